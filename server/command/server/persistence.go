package admin

import (
	"heddle/resp"
	"heddle/server/command"
)

// Persistence is what keeps the data. Its errors are replies. What waits for a disk
// is run aside; held says that the caller has all shards locked, in EXEC.
type Persistence interface {
	// Save replaces the RDB file.
	Save() error
	// BGSave begins to, or schedules it; it returns what to answer.
	BGSave(schedule, held bool) (string, error)
	// BGRewriteAOF begins to rewrite the append-only file, or schedules it.
	BGRewriteAOF(held bool) (string, error)
	// LastSave is the Unix time of the last good save.
	LastSave() int64
	// Flushed is told that all databases were emptied. It returns what the reply has
	// to wait for, if anything.
	Flushed(held bool) (save func())
	// Backup makes a copy of the data in a folder. local says that the client is on
	// this machine.
	Backup(dir string, local bool) (BackupFacts, error)
	// Reload is DEBUG RELOAD, LoadAOF DEBUG LOADAOF.
	Reload(ReloadOptions) error
	LoadAOF() error
	// SetFlushSleep is DEBUG AOF-FLUSH-SLEEP.
	SetFlushSleep(micros int64)
}

// ReloadOptions are the words of DEBUG RELOAD.
type ReloadOptions struct{ NoSave, NoFlush, Merge bool }

// BackupFacts describe a backup.
type BackupFacts struct {
	Dir    string
	Files  []string // below Dir
	Keys   int64
	Bytes  int64 // of all files
	Millis int64 // that it took
}

// persistenceSpecs: SAVE, BGSAVE [SCHEDULE], BGREWRITEAOF, HEDDLE.BACKUP folder
func (f *family) persistenceSpecs() []*command.Spec {
	const flags = command.Admin | command.NoScript | command.NoAsyncLoading
	return []*command.Spec{{
		Name: "save", Arity: 1, Flags: flags | command.NoMulti, Group: group, Control: f.save,
	}, {
		Name: "bgsave", Arity: -1, Flags: flags, Group: group, Control: f.bgsave,
	}, {
		Name: "bgrewriteaof", Arity: 1, Flags: flags, Group: group, Control: f.bgrewriteaof,
	}, {
		Name: "heddle.backup", Arity: 2, Flags: flags | command.NoMulti, Group: group, Control: f.backup,
	}}
}

func (f *family) save(c *command.Call, _ command.Session) error {
	return c.Aside(func(w *resp.Writer) { okOr(w, f.d.Server.Save()) })
}

// okOr answers OK, or an error.
func okOr(w *resp.Writer, err error) {
	if err != nil {
		w.Error(replyError(err))
		return
	}
	w.OK()
}

// replyError is the reply for an error of Persistence.
func replyError(err error) resp.Error {
	if text, ok := err.(resp.Error); ok {
		return text
	}
	return resp.Error("ERR " + err.Error())
}

func (f *family) bgsave(c *command.Call, s command.Session) error {
	schedule := c.Args.Word("schedule")
	if err := c.Args.Done(); err != nil {
		return resp.ErrSyntax
	}
	text, err := f.d.Server.BGSave(schedule, s.InExec())
	if err != nil {
		return replyError(err)
	}
	c.Reply.Simple(text)
	return nil
}

func (f *family) bgrewriteaof(c *command.Call, s command.Session) error {
	if !s.InExec() { // the first files are made before the answer
		return c.Aside(func(w *resp.Writer) { f.rewriteAOF(w, false) })
	}
	f.rewriteAOF(c.Reply, true)
	return nil
}

func (f *family) rewriteAOF(w *resp.Writer, held bool) {
	text, err := f.d.Server.BGRewriteAOF(held)
	if err != nil {
		w.Error(replyError(err))
		return
	}
	w.Simple(text)
}

func (f *family) lastSave(c *command.Call, _ command.Session) error {
	c.Reply.Int(f.d.Server.LastSave())
	return nil
}

// backup makes a complete copy of the data in a folder, on which a server can be
// started. It answers what is in it.
func (f *family) backup(c *command.Call, s command.Session) error {
	dir, local := string(c.Args.Bytes()), isLocal(s)
	return c.Aside(func(w *resp.Writer) {
		b, err := f.d.Server.Backup(dir, local)
		if err != nil {
			w.Error(replyError(err))
			return
		}
		w.Map(5)
		w.BulkString("folder")
		w.BulkString(b.Dir)
		w.BulkString("files")
		w.Array(len(b.Files))
		for _, name := range b.Files {
			w.BulkString(name)
		}
		w.BulkString("keys")
		w.Int(b.Keys)
		w.BulkString("bytes")
		w.Int(b.Bytes)
		w.BulkString("milliseconds")
		w.Int(b.Millis)
	})
}

const (
	errReloadWords resp.Error = "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."
	errReloadMulti resp.Error = "ERR DEBUG RELOAD and DEBUG LOADAOF are not possible inside a transaction"
)

// debugReload is DEBUG RELOAD [NOSAVE] [NOFLUSH] [MERGE].
func (f *family) debugReload(c *command.Call, s command.Session) error {
	var o ReloadOptions
	for c.Args.More() {
		switch {
		case c.Args.Word("nosave"):
			o.NoSave = true
		case c.Args.Word("noflush"):
			o.NoFlush = true
		case c.Args.Word("merge"):
			o.Merge = true
		default:
			return errReloadWords
		}
	}
	if s.InExec() {
		return errReloadMulti
	}
	return c.Aside(func(w *resp.Writer) { okOr(w, f.d.Server.Reload(o)) })
}

func (f *family) debugFlushSleep(c *command.Call, _ command.Session) error {
	n, _ := command.ParseInt(c.Args.Bytes()) // what is no number is 0
	f.d.Server.SetFlushSleep(min(max(n, 0), sleepSecondsMax*1e6))
	c.Reply.OK()
	return nil
}

func (f *family) debugSkipChecksum(c *command.Call, _ command.Session) error {
	f.d.Server.SetSkipChecksum(isOne(c.Args.Bytes()))
	c.Reply.OK()
	return nil
}

func (f *family) debugLoadAOF(c *command.Call, s command.Session) error {
	if s.InExec() {
		return errReloadMulti
	}
	return c.Aside(func(w *resp.Writer) { okOr(w, f.d.Server.LoadAOF()) })
}
