package config

import "strings"

func checkFilename(name string) func(string) error {
	return func(v string) error {
		if strings.Contains(v, "/") {
			return argError(name + " can't be a path, just a filename")
		}
		return nil
	}
}

func checkFilled(name string) func(string) error {
	inner := checkFilename(name)
	return func(v string) error {
		if v == "" {
			return argError(name + " can't be empty")
		}
		return inner(v)
	}
}

func checkHostname(v string) error {
	if len(v) >= 256 {
		return argError("Hostnames must be less than 256 characters")
	}
	for _, c := range v {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.':
		default:
			return argError("Hostnames may only contain alphanumeric characters, hyphens or dots")
		}
	}
	return nil
}

func checkNodename(v string) error {
	if len(v) >= 256 {
		return argError("Announced human node name must be less than 256 characters")
	}
	for _, c := range v {
		if c <= ' ' || c > '~' || strings.ContainsRune("\"'\\=:@", c) {
			return argError("Announced human node name contained invalid character")
		}
	}
	return nil
}

// TitleVariables are the words that proc-title-template may hold in braces.
var titleVariables = []string{"title", "listen-addr", "server-mode", "port", "tls-port", "unixsocket", "config-file"}

const errTitle argError = "template format is invalid or contains unknown variables"

func checkTitle(v string) error {
	out, err := ExpandTitle(v, func(string) string { return "x" })
	if err == nil && strings.TrimSpace(out) == "" {
		err = errTitle
	}
	return err
}

// ExpandTitle fills in a proc-title-template.
func ExpandTitle(template string, value func(name string) string) (string, error) {
	var b strings.Builder
	for template != "" {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			break
		}
		end := strings.IndexByte(template[open:], '}')
		if end < 0 {
			return "", errTitle
		}
		name := template[open+1 : open+end]
		if !contains(titleVariables, name) {
			return "", errTitle
		}
		b.WriteString(template[:open])
		b.WriteString(value(name))
		template = template[open+end+1:]
	}
	b.WriteString(template)
	return strings.TrimRight(b.String(), " "), nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// clampBacklog and clampWatchdog raise values too small to be of use, as Redis does.
func clampBacklog(n int64) int64 { return max(n, 16<<10) }

func clampWatchdog(n int64) int64 {
	if n == 0 {
		return 0
	}
	return max(n, 200)
}

// clampHz keeps hz within what the timer can do, silently as Redis does.
func clampHz(n int64) int64 { return min(max(n, 1), 500) }
