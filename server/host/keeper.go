package host

import (
	"errors"

	admin "heddle/server/command/server"
)

var errNotYet = errors.New("there is no persistence")

// Save is SAVE.
func (h *Host) Save() error { return errNotYet }

// BGSave is BGSAVE.
func (h *Host) BGSave(bool, bool) (string, error) { return "", errNotYet }

// BGRewriteAOF is BGREWRITEAOF.
func (h *Host) BGRewriteAOF(bool) (string, error) { return "", errNotYet }

// LastSave is the Unix time of the last good save.
func (h *Host) LastSave() int64 { return h.started.Unix() }

// Flushed is told of FLUSHALL.
func (h *Host) Flushed(bool) func() { return nil }

// Backup is HEDDLE.BACKUP.
func (h *Host) Backup(string, bool) (admin.BackupFacts, error) { return admin.BackupFacts{}, errNotYet }

// Reload is DEBUG RELOAD.
func (h *Host) Reload(admin.ReloadOptions) error { return errNotYet }

// LoadAOF is DEBUG LOADAOF.
func (h *Host) LoadAOF() error { return errNotYet }
