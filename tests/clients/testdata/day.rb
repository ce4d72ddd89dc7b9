# A day's work of Debian's ruby-redis against the server at the given port.
require 'redis'

PORT = ARGV[0].to_i

def connect
  Redis.new(port: PORT, timeout: 20)
end

def check(what, got, want)
  raise "#{what}: got #{got.inspect}, want #{want.inspect}" unless got == want
end

r = connect
check 'set', r.set('a', '1'), 'OK'
check 'pipeline', r.pipelined { |p| 100.times { p.incr('a') } }.last, 101
check 'multi', r.multi { |t| t.rpush('l', %w[x y z]); t.lrange('l', 0, -1) }, [3, %w[x y z]]
r.watch('a') do
  connect.incr('a')
  check 'watch', r.multi { |t| t.set('a', 'lost') }, nil
end

consumer = Thread.new { connect.brpop('queue', timeout: 10) }
sleep 0.05
r.lpush('queue', 'job')
check 'brpop', consumer.value, %w[queue job]

messages = []
ready = Queue.new
subscriber = Thread.new do
  connect.subscribe('news') do |on|
    on.subscribe { ready << true }
    on.message do |channel, message|
      messages << [channel, message]
      raise StopIteration if message == 'end'
    end
  end
rescue StopIteration
  nil
end
ready.pop
check 'publish', r.publish('news', 'first'), 1
r.publish('news', 'end')
subscriber.join
check 'messages', messages, [%w[news first], %w[news end]]

r.hset('h', 'f', 'v', 'g', 'w')
check 'hgetall', r.hgetall('h'), { 'f' => 'v', 'g' => 'w' }
r.zadd('z', [[1.5, 'one'], [2, 'two']])
check 'zrange', r.zrange('z', 0, -1, with_scores: true), [['one', 1.5], ['two', 2.0]]
r.sadd('s', %w[a b c])
check 'smembers', r.smembers('s').sort, %w[a b c]
check 'sscan', r.sscan_each('s').to_a.sort, %w[a b c]

id = r.xadd('x', { 'k' => 'v' })
r.xgroup(:create, 'x', 'g', '0')
check 'xreadgroup', r.xreadgroup('g', 'c', 'x', '>'), { 'x' => [[id, { 'k' => 'v' }]] }
check 'xack', r.xack('x', 'g', id), 1
check 'scan', r.scan_each(match: 'h*').to_a, ['h']
begin
  r.lpush('h', 1)
  raise 'LPUSH to a hash went well'
rescue Redis::CommandError => e
  raise e unless e.message.start_with?('WRONGTYPE')
end
