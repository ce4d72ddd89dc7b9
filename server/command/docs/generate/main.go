// Command generate writes redis.json: it asks a running redis-server for
// COMMAND DOCS and keeps the answer.
//
//	go run ./server/command/docs/generate 127.0.0.1:6379 > server/command/docs/redis.json
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sort"
	"strconv"

	"heddle/server/command/docs"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate host:port")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(addr string, out io.Writer) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "COMMAND DOCS\r\n"); err != nil {
		return err
	}
	reply, err := read(bufio.NewReader(conn))
	if err != nil {
		return err
	}
	return write(out, commands(reply))
}

// write prints a command a line, so that changes can be read.
func write(out io.Writer, all map[string]*docs.Doc) error {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	w := bufio.NewWriter(out)
	for i, name := range names {
		line, err := json.Marshal(all[name])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%c%q: %s\n", "{,"[min(i, 1)], name, line)
	}
	fmt.Fprintln(w, "}")
	return w.Flush()
}

// pairs calls fn for each pair of a map in RESP2.
func pairs(v any, fn func(name string, value any)) {
	list := v.([]any)
	for i := 0; i+1 < len(list); i += 2 {
		fn(list[i].(string), list[i+1])
	}
}

func commands(v any) map[string]*docs.Doc {
	all := map[string]*docs.Doc{}
	pairs(v, func(name string, value any) { all[name] = command(value) })
	return all
}

func command(v any) *docs.Doc {
	d := &docs.Doc{}
	pairs(v, func(name string, value any) {
		switch name {
		case "doc_flags":
			d.DocFlags = stringsOf(value)
		case "history":
			for _, h := range value.([]any) {
				d.History = append(d.History, [2]string(stringsOf(h)))
			}
		case "arguments":
			d.Arguments = arguments(value)
		case "subcommands":
			d.Subcommands = commands(value)
		default:
			*map[string]*string{
				"summary": &d.Summary, "since": &d.Since, "group": &d.Group, "complexity": &d.Complexity,
				"deprecated_since": &d.DeprecatedSince, "replaced_by": &d.ReplacedBy,
			}[name] = value.(string)
		}
	})
	return d
}

func arguments(v any) []docs.Argument {
	var args []docs.Argument
	for _, arg := range v.([]any) {
		var a docs.Argument
		pairs(arg, func(name string, value any) {
			switch name {
			case "key_spec_index":
				n := value.(int)
				a.KeySpecIndex = &n
			case "flags":
				a.Flags = stringsOf(value)
			case "arguments":
				a.Arguments = arguments(value)
			default:
				*map[string]*string{
					"name": &a.Name, "type": &a.Type, "token": &a.Token, "summary": &a.Summary,
					"since": &a.Since, "deprecated_since": &a.DeprecatedSince,
				}[name] = value.(string)
			}
		})
		args = append(args, a)
	}
	return args
}

func stringsOf(v any) []string {
	var out []string
	for _, s := range v.([]any) {
		out = append(out, s.(string))
	}
	return out
}

// read reads one reply of RESP2.
func read(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil || len(line) < 3 {
		return nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+':
		return text, nil
	case ':':
		return strconv.Atoi(text)
	case '-':
		return nil, errors.New(text)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	if line[0] == '$' {
		buf := make([]byte, n+2)
		_, err := io.ReadFull(r, buf)
		return string(buf[:n]), err
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = read(r); err != nil {
			return nil, err
		}
	}
	return list, nil
}
