package command

import "errors"

// Why a rename-command line cannot be followed, in Redis' words.
var (
	ErrRenameUnknown = errors.New("No such command in rename-command")
	ErrRenameTaken   = errors.New("Target command name already exists")
)

// Rename gives a command another name, or takes it away if to is empty, before
// families become a table. Names are lower case. Families must be one's own.
func Rename(families []Family, from, to string) error {
	f, i := findSpec(families, from)
	if f == nil {
		return ErrRenameUnknown
	}
	if to == "" {
		f.Specs = append(append([]*Spec(nil), f.Specs[:i]...), f.Specs[i+1:]...)
		return nil
	}
	if other, _ := findSpec(families, to); other != nil {
		return ErrRenameTaken
	}
	f.Specs[i].Name = to
	return nil
}

func findSpec(families []Family, name string) (*Family, int) {
	for f := range families {
		for i, s := range families[f].Specs {
			if s.Name == name {
				return &families[f], i
			}
		}
	}
	return nil, 0
}
