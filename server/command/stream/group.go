package streams

import (
	"heddle/db"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

const (
	errNeedsKey    resp.Error = "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."
	errGroupExists resp.Error = "BUSYGROUP Consumer Group name already exists"
	errEntriesRead resp.Error = "ERR value for ENTRIESREAD must be positive or -1"
)

// XGROUP CREATE | CREATECONSUMER | DELCONSUMER | DESTROY | SETID key group ..., XGROUP HELP
func xgroupSpec() *command.Spec {
	sub := func(name string, arity int, flags command.Flags, key command.KeyFlags, fn func(*command.Call, db.Txn) error) *command.Spec {
		return &command.Spec{
			Name: name, Arity: arity, Keys: command.Key(2, command.KeyRW|key), Flags: flags,
			ACL: command.CatStream, Group: group, Write: fn,
		}
	}
	return &command.Spec{Name: "xgroup", Arity: -2, Group: group, Sub: []*command.Spec{
		sub("create", -5, command.DenyOOM, command.KeyInsert, xgroupCreate),
		sub("createconsumer", 5, command.DenyOOM, command.KeyInsert, xgroupCreateConsumer),
		sub("delconsumer", 5, 0, command.KeyDelete, xgroupDelConsumer),
		sub("destroy", 4, 0, command.KeyDelete, xgroupDestroy),
		{
			Name: "help", Arity: 2, Flags: command.Loading | command.Stale,
			ACL: command.CatStream, Group: group, Control: xgroupHelp,
		},
		sub("setid", -5, 0, command.KeyUpdate, xgroupSetID),
	}}
}

// groupOptions are what XGROUP CREATE and SETID take behind the ID.
type groupOptions struct {
	mkstream bool
	read     int64
}

// parse reads the options; create says that MKSTREAM is one.
func (o *groupOptions) parse(c *command.Call, create bool) {
	a := &c.Args
	o.read = stream.Unread
	for a.More() {
		switch {
		case create && a.Word("mkstream"):
			o.mkstream = true
		case a.Len() >= 2 && a.Word("entriesread"):
			if o.read = a.Int(); o.read < 0 && o.read != stream.Unread {
				a.Reject(errEntriesRead)
			}
		default:
			a.Reject(errSubcommand(c))
		}
	}
}

// groupID reads an ID or $, the last one of s, which may be nil. SETID knows - and +, too.
func groupID(b []byte, s *stream.Stream, parse func([]byte, uint64) (stream.ID, bool)) (stream.ID, error) {
	if string(cText(b)) == "$" {
		if s == nil {
			return stream.ID{}, nil
		}
		return s.LastID(), nil
	}
	id, ok := parse(b, 0)
	if !ok {
		return id, errID
	}
	return id, nil
}

// XGROUP CREATE key group id | $ [MKSTREAM] [ENTRIESREAD entries-read]
func xgroupCreate(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key, name, at := a.Key(), a.Bytes(), a.Bytes()
	var o groupOptions
	o.parse(c, true)
	if err := a.Done(); err != nil {
		return err
	}

	s, err := stream.Edit(tx, key)
	switch {
	case err != nil:
		return err
	case s == nil && !o.mkstream:
		return errNeedsKey
	case len(a.Argv()) > 8: // options said twice
		return errSubcommand(c)
	}
	id, err := groupID(at, s, strictID)
	if err != nil {
		return err
	}
	if s != nil && s.Group(name) != nil {
		return errGroupExists
	}

	if s == nil {
		if s, err = stream.Create(tx, key); err != nil {
			return err
		}
		s.CreateGroup(name, id, o.read)
		tx.Touched(key, db.ClassStream, "xgroup-create")
	} else {
		s.CreateGroup(name, id, o.read)
		tx.Adjusted(key, 1)
		tell(tx, "xgroup-create", key)
	}
	c.Reply.OK()
	return nil
}

// editGroup gets the stream at key and a group of it for change, as most subcommands of
// XGROUP need them.
func editGroup(tx db.Txn, key, name []byte) (*stream.Stream, *stream.Group, error) {
	s, err := stream.Edit(tx, key)
	switch {
	case err != nil:
		return nil, nil, err
	case s == nil:
		return nil, nil, errNeedsKey
	}
	g := s.EditGroup(name)
	if g == nil {
		return nil, nil, command.Errorf("NOGROUP No such consumer group '%s' for key name '%s'", name, key)
	}
	return s, g, nil
}

// XGROUP SETID key group id | $ [ENTRIESREAD entries-read]
func xgroupSetID(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key, name, at := a.Key(), a.Bytes(), a.Bytes()
	var o groupOptions
	o.parse(c, false)
	if err := a.Done(); err != nil {
		return err
	}

	s, g, err := editGroup(tx, key, name)
	switch {
	case err != nil:
		return err
	case len(a.Argv()) > 7:
		return errSubcommand(c)
	}
	id, err := groupID(at, s, looseID)
	if err != nil {
		return err
	}

	g.Last, g.Read = id, o.read
	tx.Adjusted(key, 1)
	tell(tx, "xgroup-setid", key)
	c.Reply.OK()
	return nil
}

// XGROUP DESTROY key group
func xgroupDestroy(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key, name := a.Key(), a.Bytes()
	s, err := stream.Edit(tx, key)
	switch {
	case err != nil:
		return err
	case s == nil:
		return errNeedsKey
	}
	if !s.DestroyGroup(name) {
		c.Reply.Int(0)
		return nil
	}
	tx.Adjusted(key, 1)
	tell(tx, "xgroup-destroy", key)
	tx.Wake(key) // who waits for the group has to hear of it
	c.Reply.Int(1)
	return nil
}

// XGROUP CREATECONSUMER key group consumer
func xgroupCreateConsumer(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key, name, consumer := a.Key(), a.Bytes(), a.Bytes()
	s, g, err := editGroup(tx, key, name)
	if err != nil {
		return err
	}
	if _, created := s.CreateConsumer(g, consumer, int64(tx.Now())); !created {
		c.Reply.Int(0)
		return nil
	}
	tx.Adjusted(key, 1)
	tell(tx, "xgroup-createconsumer", key)
	c.Reply.Int(1)
	return nil
}

// XGROUP DELCONSUMER key group consumer
func xgroupDelConsumer(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key, name, consumer := a.Key(), a.Bytes(), a.Bytes()
	s, g, err := editGroup(tx, key, name)
	if err != nil {
		return err
	}
	held, ok := s.DeleteConsumer(g, consumer)
	if ok {
		tx.Adjusted(key, 1)
		tell(tx, "xgroup-delconsumer", key)
	}
	c.Reply.Int(int64(held))
	return nil
}

func xgroupHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c,
		"CREATE <key> <groupname> <id|$> [option]",
		"    Create a new consumer group. Options are:",
		"    * MKSTREAM",
		"      Create the empty stream if it does not exist.",
		"    * ENTRIESREAD entries_read",
		"      Set the group's entries_read counter (internal use).",
		"CREATECONSUMER <key> <groupname> <consumer>",
		"    Create a new consumer in the specified group.",
		"DELCONSUMER <key> <groupname> <consumer>",
		"    Remove the specified consumer.",
		"DESTROY <key> <groupname>",
		"    Remove the specified group.",
		"SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
		"    Set the current group ID and entries_read counter.")
}
