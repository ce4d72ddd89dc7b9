"""A day's work of Debian's python3-redis against the server at the given port."""
import sys
import threading
import time

import redis

port = int(sys.argv[1])


def connect(**options):
    return redis.Redis(port=port, decode_responses=True, socket_timeout=20, **options)


r = connect()


def strings_and_pipelines():
    assert r.set("visits", 0)
    with r.pipeline(transaction=False) as p:
        for _ in range(1000):
            p.incr("visits")
        assert p.execute() == list(range(1, 1001))
    with r.pipeline() as p:
        p.set("a", 1).rpush("l", *range(10)).lrange("l", 0, -1).hset("h", mapping={"x": 1, "y": 2}).hgetall("h")
        done = p.execute()
    assert done == [True, 10, [str(i) for i in range(10)], 2, {"x": "1", "y": "2"}], done


def transactions():
    def withdraw():
        c = connect()
        for _ in range(50):
            def move(p):
                money = int(p.get("account"))
                p.multi()
                p.set("account", money - 1)
            c.transaction(move, "account")

    r.set("account", 200)
    threads = [threading.Thread(target=withdraw) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert r.get("account") == "0", r.get("account")


def blocking():
    got = []

    def consume():
        c = connect()
        while True:
            _, job = c.blpop(["urgent", "jobs"], timeout=10)
            if job == "stop":
                return
            got.append(job)

    t = threading.Thread(target=consume)
    t.start()
    for i in range(100):
        r.rpush("jobs", i)
    r.rpush("jobs", "stop")
    t.join()
    assert got == [str(i) for i in range(100)], got
    begin = time.monotonic()
    assert r.bzpopmin("nothing", timeout=0.2) is None
    assert 0.15 < time.monotonic() - begin < 5


def publishing():
    p = r.pubsub(ignore_subscribe_messages=True)
    p.subscribe("news")
    p.psubscribe("sport.*")
    while r.pubsub_numsub("news") != [("news", 1)] or r.pubsub_numpat() != 1:
        time.sleep(0.01)
    assert r.publish("news", "rain") == 1
    assert r.publish("sport.chess", "draw") == 1
    seen = []
    while len(seen) < 2:
        m = p.get_message(timeout=5)
        if m:
            seen.append((m["type"], m["channel"], m["data"]))
    assert seen == [("message", "news", "rain"), ("pmessage", "sport.chess", "draw")], seen
    p.close()


def streams():
    r.xgroup_create("orders", "packers", id="0", mkstream=True)
    ids = [r.xadd("orders", {"item": i, "price": i * 2}) for i in range(20)]
    first = r.xreadgroup("packers", "ann", {"orders": ">"}, count=10)
    assert [i for i, _ in first[0][1]] == ids[:10]
    assert r.xack("orders", "packers", *ids[:5]) == 5
    pending = r.xpending("orders", "packers")
    assert pending["pending"] == 5 and pending["consumers"][0]["name"] == "ann", pending
    claimed = r.xclaim("orders", "packers", "bob", 0, ids[5:10])
    assert [i for i, _ in claimed] == ids[5:10]
    rest = r.xreadgroup("packers", "bob", {"orders": ">"}, block=1000)
    assert len(rest[0][1]) == 10
    assert r.xlen("orders") == 20 and r.xtrim("orders", maxlen=5, approximate=False) == 15
    assert r.xinfo_groups("orders")[0]["name"] == "packers"


def collections():
    assert r.sadd("s1", *range(10)) == 10 and r.sadd("s2", *range(5, 15)) == 10
    assert r.sinter("s1", "s2") == {str(i) for i in range(5, 10)}
    assert r.zadd("scores", {"ann": 1.5, "bob": 3, "eve": 2}) == 3
    assert r.zrange("scores", 0, -1, withscores=True) == [("ann", 1.5), ("eve", 2.0), ("bob", 3.0)]
    assert r.zrevrangebyscore("scores", "+inf", 2) == ["bob", "eve"]
    assert r.geoadd("places", [13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania"]) == 2
    assert abs(r.geodist("places", "Palermo", "Catania", "km") - 166.2742) < 0.001
    assert r.pfadd("hll", *range(100)) == 1 and 95 < r.pfcount("hll") < 105
    r.hset("big", mapping={f"f{i}": "v" * i for i in range(500)})
    assert sum(1 for _ in r.hscan_iter("big")) == 500
    r.zadd("huge", {f"m{i}": i for i in range(3000)})
    assert len(r.zrange("huge", 0, -1)) == 3000
    assert {k for k in r.scan_iter("s*")} >= {"s1", "s2", "scores"}
    assert r.sort("s1", desc=True, start=0, num=3) == ["9", "8", "7"]


def expiring():
    r.set("soon", 1, px=50)
    r.hset("session", mapping={"user": "ann", "token": "t"})
    r.expire("session", 100)
    assert 98 <= r.ttl("session") <= 100
    time.sleep(0.1)
    assert r.get("soon") is None


for work in (strings_and_pipelines, transactions, blocking, publishing, streams, collections, expiring):
    r.flushall()
    work()
assert r.info()["redis_mode"] == "standalone" and r.client_list() and r.config_get("maxmemory")
