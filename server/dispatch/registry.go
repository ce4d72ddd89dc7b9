package dispatch

import (
	"cmp"
	"slices"
	"sync"

	"heddle/db"
	"heddle/server/command"
	"heddle/server/pubsub"
)

// Registry is the list of all clients. Safe for concurrent use. It implements
// command.Clients.
type Registry struct {
	e    *Engine
	mu   sync.RWMutex
	last int64
	byID map[int64]*Client
}

func (r *Registry) open(e *Engine) { r.e, r.byID = e, map[int64]*Client{} }

func (r *Registry) add(c *Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	c.id = r.last
	r.byID[c.id] = c
}

func (r *Registry) remove(c *Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, c.id)
}

// Len returns how many clients are connected.
func (r *Registry) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.byID)
}

// Blocked returns how many clients wait: parked by a blocking command, or held
// back by CLIENT PAUSE.
func (r *Registry) Blocked() int { return int(r.e.waiters.blocked.Load()) }

// BlockingKeys returns how many keys parked commands wait for.
func (r *Registry) BlockingKeys() int {
	return int(r.e.waiters.keys.Load())
}

// BlockingGone returns how many of these keys somebody waits for who wants to know
// when they are gone.
func (r *Registry) BlockingGone() int { return int(r.e.waiters.gone.Load()) }

// Timed returns how many parked commands have a timeout.
func (r *Registry) Timed() int { return int(r.e.waiters.timed.Load()) }

// Find returns the client with a number, nil if there is none.
func (r *Registry) Find(id int64) *Client {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byID[id]
}

// All returns all clients in the order of their numbers.
func (r *Registry) All() []*Client {
	r.mu.RLock()
	all := make([]*Client, 0, len(r.byID))
	for _, c := range r.byID {
		all = append(all, c)
	}
	r.mu.RUnlock()
	slices.SortFunc(all, func(a, b *Client) int { return cmp.Compare(a.id, b.id) })
	return all
}

// Each describes every client, in the order of their numbers.
func (r *Registry) Each(fn func(*command.ClientInfo)) {
	for _, c := range r.All() {
		info := c.describe()
		fn(&info)
	}
}

// Kill closes a client's connection; false if there is none of that number.
func (r *Registry) Kill(id int64) bool {
	c := r.Find(id)
	if c == nil {
		return false
	}
	if k := c.shown.parked.Load(); k != nil {
		k.end(c, abandoned) // nothing is taken for it any more
	}
	c.conn.Kill()
	return true
}

// Unblock ends the wait of a parked client; false if it does not wait.
func (r *Registry) Unblock(id int64, withError bool) bool {
	c := r.Find(id)
	if c == nil {
		return false
	}
	k := c.shown.parked.Load()
	if k == nil {
		return false
	}
	if withError {
		return k.end(c, unblocked)
	}
	return k.end(c, timedOut)
}

// Pause is Engine.Pause.
func (r *Registry) Pause(d db.Millis, writesOnly bool) { r.e.Pause(d, writesOnly) }

// Unpause is Engine.Unpause.
func (r *Registry) Unpause() { r.e.Unpause() }

// describe tells what other goroutines may know of a client.
func (c *Client) describe() command.ClientInfo {
	sh := &c.shown
	now := c.e.clock.Wall() / 1e9
	m := mode(sh.mode.Load())
	i := command.ClientInfo{
		ID: c.id, Addr: c.conn.RemoteAddr(), LAddr: c.conn.LocalAddr(), FD: c.conn.FD(), Worker: c.conn.Worker(),
		Age: now - c.created, Idle: max(now-sh.last.Load(), 0), Flags: c.flags(m),
		DB: int(sh.db.Load()), Multi: int(sh.multi.Load()), MultiMem: sh.queue.Load(),
		Sub: int(sh.subs[pubsub.Channel].Load()), PSub: int(sh.subs[pubsub.Pattern].Load()), SSub: int(sh.subs[pubsub.Shard].Load()),
		Events: "r", Cmd: "NULL", Proto: int(sh.proto.Load()),
		NoEvict: m&modeNoEvict != 0, Monitor: m&modeMonitor != 0,
	}
	i.QueryBuf, i.QueryBufFree, i.ArgvMem, i.OutBuf, i.OutList, i.OutMem, i.TotalMem = c.conn.Buffers()
	i.TotalMem += i.MultiMem + sh.subMem.Load()
	if k := sh.parked.Load(); k != nil {
		args, all := k.memory(c)
		i.ArgvMem += args
		i.TotalMem += all
	}
	if i.OutBuf > 0 || i.OutList > 0 {
		i.Events = "rw"
	}
	if s := sh.cmd.Load(); s != nil {
		i.Cmd = s.FullName()
	}
	sh.mu.Lock()
	i.Name, i.User, i.LibName, i.LibVer = sh.name, sh.user, sh.libName, sh.libVer
	sh.mu.Unlock()
	return i
}

// flags are the letters of CLIENT LIST.
func (c *Client) flags(m mode) string {
	var b []byte
	add := func(on bool, letter byte) {
		if on {
			b = append(b, letter)
		}
	}
	addr, k := c.conn.RemoteAddr(), c.shown.parked.Load()
	add(m&modeMonitor != 0, 'O')
	add(m&modeSubscribed != 0, 'P')
	add(m&modeMulti != 0, 'x')
	add(m&modeBlocked != 0 && (k == nil || k.waits(c)), 'b')
	add(m&modeDirtyExec != 0, 'd')
	add(m&modeClosing != 0, 'c')
	add(len(addr) > 0 && addr[0] == '/', 'U')
	add(m&modeNoEvict != 0, 'e')
	add(m&modeNoTouch != 0, 'T')
	if len(b) == 0 {
		return "N"
	}
	return string(b)
}
