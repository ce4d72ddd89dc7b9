package persist

import (
	"math"
	"time"

	"heddle/db/aof"
	"heddle/disk"
	"heddle/replication/oplog"
)

// appender writes the append-only file.
type appender struct {
	*aof.Appender
	voice *voice
}

// startAppender begins to write effects from where the reader stands to a file, which is
// size bytes long and whole. speaks says that it is the one that counts from now on.
func (k *Keeper) startAppender(r *oplog.Reader, f disk.File, size int64, speaks bool) *appender {
	c := k.o.Config
	app := &appender{voice: &voice{limit: math.MaxInt64}}
	if speaks {
		k.speak(app.voice)
	}
	app.Appender = aof.Start(aof.AppenderOptions{
		Source: source{r, k.o.Oplog}, At: r.At(), File: f, Size: size,
		Policy: policyOf(c.String("appendfsync")), Timestamps: c.Bool("aof-timestamp-enabled"),
		Publish: func(limit int64) { k.publish(app.voice, limit) },
		Fault:   func(err error) { k.tell(app.voice, err) },
		Log:     k.logFile, Now: time.Now, After: time.After,
	})
	app.SetFlushSleep(time.Duration(k.flushSleep.Load()))
	return app
}

// stopAppender ends one: what was appended is written and synced, then replies wait for
// nothing any more, unless another one counts.
func (k *Keeper) stopAppender(app *appender) error {
	err := app.Close()
	k.silence(app.voice)
	return err
}

func policyOf(word string) aof.Policy {
	switch word {
	case "always":
		return aof.Always
	case "no":
		return aof.No
	}
	return aof.EverySec
}

// SetSync applies directives that say how the file is written.
func (k *Keeper) SetSync() {
	c := k.o.Config
	k.syncing.Lock() // of two that find different things, the later one has the last word
	defer k.syncing.Unlock()
	k.mu.Lock()
	app, st := k.aof.app, k.aof.store
	busy := k.work != nil
	k.mu.Unlock()
	if st != nil {
		st.SetKeepHistory(c.Bool("aof-disable-auto-gc"))
	}
	if app == nil {
		return
	}
	app.SetPolicy(policyOf(c.String("appendfsync")))
	app.SetTimestamps(c.Bool("aof-timestamp-enabled"))
	app.SetNoSync(busy && c.Bool("no-appendfsync-on-rewrite"))
}

// SetFlushSleep is DEBUG AOF-FLUSH-SLEEP: so long each write of the append-only file
// is held up.
func (k *Keeper) SetFlushSleep(d time.Duration) {
	k.flushSleep.Store(int64(d))
	k.mu.Lock()
	app := k.aof.app
	k.mu.Unlock()
	if app != nil {
		app.SetFlushSleep(d)
	}
}

// flushAOF writes and syncs what was appended so far.
func (k *Keeper) flushAOF() error {
	k.mu.Lock()
	app := k.aof.app
	k.mu.Unlock()
	if app == nil {
		return nil
	}
	return app.Flush()
}

// closeAOF syncs the append-only file before the server stops.
func (k *Keeper) closeAOF(force bool) error {
	k.switching.Lock() // who switches it off syncs it, too
	defer k.switching.Unlock()
	k.mu.Lock()
	mode := k.aof.mode
	k.mu.Unlock()
	if mode != aofOn {
		return nil
	}
	k.o.Log.Noticef("Calling fsync() on the AOF file.")
	if err := k.flushAOF(); err != nil {
		k.o.Log.Warningf("Fail to fsync the AOF file: %s", disk.Errno(err))
		if !force {
			return ErrStay
		}
	}
	return nil
}
