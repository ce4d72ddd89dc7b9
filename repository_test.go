// Package heddle is only this: tests that hold the repository to its own rules.
package heddle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports says which packages of ours a package may import: a name stands for
// itself, one ending in /... for all below it too. The first rule that fits a
// package holds. Data walks one way, cmd -> server -> server/command/* ->
// server/command -> db, resp, and so do the imports.
func imports() []importRule {
	return []importRule{
		{"cmd/...", []string{"config", "cron", "db/...", "disk", "replication/...", "resp", "server/..."}},
		{"config", []string{"resp", "db/glob"}},
		{"cron", []string{"db"}},
		{"db/...", []string{"db/...", "disk/..."}},
		{"disk/...", []string{"disk"}},
		{"replication/oplog", nil},
		{"resp", nil},
		{"server/command", []string{"db", "db/glob", "resp", "server/command/longdouble"}},
		{"server/command/cmdtest", []string{"db", "db/invariants", "replication/oplog", "resp", "server/command", "server/dispatch"}},
		{"server/command/server", []string{"config", "db/...", "resp", "server/command", "server/command/docs", "server/stats"}},
		{"server/command/...", []string{"db/...", "resp", "server/command/..."}},
		{"server/migrate", []string{"server/command/generic"}},
		{"server/dispatch", []string{"db/...", "replication/oplog", "resp", "server/command", "server/pubsub", "server/stats"}},
		{"server/pubsub", []string{"db/..."}},
		{"server/persist", []string{"config", "db/...", "disk/...", "replication/...", "resp", "server/dispatch", "server/log"}},
		{"server/host", []string{"config", "cron", "db/...", "replication/...", "resp", "server/..."}},
		{"server/poll", nil},
		{"server/log", nil},
		{"server/stats", nil},
		{"server/pace", []string{"db"}},
		{"server/process", []string{"server/log"}},
		{"server", []string{"db/...", "replication/oplog", "resp", "server/dispatch", "server/pace", "server/poll", "server/stats"}},
		{"difftest/...", []string{"difftest", "tests/testserver"}},
		{"benchmarks/...", []string{"benchmarks/histogram", "benchmarks/target", "tests/testserver"}},
		{"tests/testserver", nil},
		{"tests/...", []string{"difftest", "tests/testserver"}},
		{".", nil},
	}
}

type importRule struct {
	pkg     string
	allowed []string
}

// The limits of style: a function fits a screen or two, a file a sitting.
const (
	maxFunctionLines = 70
	maxFileLines     = 600
)

// source is a Go file of the repository that is no test.
type source struct {
	name string // slashes, from the root
	file *ast.File
	set  *token.FileSet
}

func (s source) pkg() string { return path.Dir(s.name) }

func (s source) at(n ast.Node) string {
	return s.name + ":" + strconv.Itoa(s.set.Position(n.Pos()).Line)
}

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		list = append(list, source{filepath.ToSlash(name), f, set})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// under reports whether pkg is what pattern stands for.
func under(pkg, pattern string) bool {
	base, all := strings.CutSuffix(pattern, "/...")
	return pkg == base || all && strings.HasPrefix(pkg, base+"/")
}

func TestPackagesHaveDoc(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		documented[s.pkg()] = documented[s.pkg()] || s.file.Doc != nil && strings.Contains(s.file.Doc.Text(), ".")
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %s has no sentence of documentation", pkg)
		}
	}
}

func TestExportsHaveDoc(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && receiverExported(d) {
					t.Errorf("%s: %s has no documentation", s.at(d), d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil {
						t.Errorf("%s: %s has no documentation", s.at(ts), ts.Name)
					}
				}
			}
		}
	}
}

// receiverExported reports whether a method belongs to an exported type whose
// methods must speak for themselves; methods that every Go reader knows need
// not.
func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	known := []string{"String", "Error", "Len", "Less", "Swap", "Push", "Pop", "Write", "Read", "Close", "Unwrap"}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported() && !slices.Contains(known, d.Name.Name)
}

func TestImportDirections(t *testing.T) {
	for _, s := range sources(t) {
		rule := slices.IndexFunc(imports(), func(r importRule) bool { return under(s.pkg(), r.pkg) })
		if rule < 0 {
			t.Errorf("%s: no rule says what package %s may import", s.name, s.pkg())
			continue
		}
		for _, imp := range s.file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			ours, ok := strings.CutPrefix(name, "heddle/")
			if ok && !slices.ContainsFunc(imports()[rule].allowed, func(p string) bool { return under(ours, p) }) {
				t.Errorf("%s: package %s may not import %s", s.at(imp), s.pkg(), ours)
			}
		}
	}
}

// TestForbiddenImports: handlers neither lock nor do I/O, and unsafe code is
// kept where it cannot be avoided.
func TestForbiddenImports(t *testing.T) {
	unsafeAllowed := []string{"db/arena", "server/poll"}
	// The harness opens a connection to compare with Redis; docs are unpacked
	// when they are first asked for; and a generator is no part of the server.
	tools := []string{"server/command/cmdtest", "server/command/docs/..."}
	for _, s := range sources(t) {
		for _, imp := range s.file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			switch {
			case name == "unsafe" && !slices.Contains(unsafeAllowed, s.pkg()):
				t.Errorf("%s: unsafe belongs in %v", s.at(imp), unsafeAllowed)
			case name == "C":
				t.Errorf("%s: the server is built without C", s.at(imp))
			case slices.Contains([]string{"sync", "net", "os"}, name) && under(s.pkg(), "server/command/...") &&
				!slices.ContainsFunc(tools, func(p string) bool { return under(s.pkg(), p) }):
				t.Errorf("%s: commands may not import %s", s.at(imp), name)
			}
		}
	}
}

// TestTimeIsPassedIn: what storage and commands do depends on the instant that
// they are given.
func TestTimeIsPassedIn(t *testing.T) {
	for _, s := range sources(t) {
		given := under(s.pkg(), "db/...") || under(s.pkg(), "server/command/...") &&
			s.pkg() != "server/command/cmdtest" && !under(s.pkg(), "server/command/docs/...")
		if !given {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "NewTimer"}, sel.Sel.Name) {
					t.Errorf("%s: time.%s", s.at(n), sel.Sel.Name)
				}
			}
			return true
		})
	}
}

// checkedOnly reports whether a file is part of checked builds only: those may
// keep books on the whole process, such as which locks are held.
func (s source) checkedOnly() bool {
	return slices.ContainsFunc(s.file.Comments, func(g *ast.CommentGroup) bool { return g.List[0].Text == "//go:build invariants" })
}

// TestNoGlobalState: nothing happens before main, and variables of packages are
// tables and errors that are never written.
func TestNoGlobalState(t *testing.T) {
	all := slices.DeleteFunc(sources(t), source.checkedOnly)
	globals := map[string]map[string]bool{} // package, name
	for _, s := range all {
		names := globals[s.pkg()]
		if names == nil {
			names = map[string]bool{}
			globals[s.pkg()] = names
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "init" && f.Recv == nil {
				t.Errorf("%s: func init", s.at(f))
			}
			for _, spec := range variables(d) {
				for _, name := range spec.Names {
					names[name.Name] = true
				}
				if madeToChange(spec.Type) {
					t.Errorf("%s: %s holds state", s.at(spec), spec.Names[0].Name)
				}
			}
		}
	}
	for _, s := range all {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			local := locals(f)
			for _, write := range writes(f) {
				if globals[s.pkg()][write.Name] && !local[write.Name] {
					t.Errorf("%s: %s is a variable of the package and written here", s.at(write), write.Name)
				}
			}
		}
	}
}

// variables returns the specs of a declaration of the package's variables.
func variables(d ast.Decl) (specs []*ast.ValueSpec) {
	if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
		for _, spec := range d.Specs {
			if v := spec.(*ast.ValueSpec); v.Names[0].Name != "_" {
				specs = append(specs, v)
			}
		}
	}
	return specs
}

// madeToChange reports whether a type is of use only if its values change.
func madeToChange(typ ast.Expr) bool {
	switch typ := typ.(type) {
	case *ast.ChanType:
		return true
	case *ast.SelectorExpr:
		pkg, ok := typ.X.(*ast.Ident)
		return ok && (pkg.Name == "sync" && typ.Sel.Name != "Once" || pkg.Name == "atomic")
	}
	return false
}

// locals returns the names that a function declares anywhere within it.
func locals(f *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	fields := func(list *ast.FieldList) {
		if list != nil {
			for _, field := range list.List {
				for _, name := range field.Names {
					names[name.Name] = true
				}
			}
		}
	}
	fields(f.Recv)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			fields(n.Params)
			fields(n.Results)
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					names[e.(*ast.Ident).Name] = true
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names[id.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// writes returns the variables at the root of everything that is assigned to,
// counted up or down.
func writes(f *ast.FuncDecl) (list []*ast.Ident) {
	add := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.Ident:
				list = append(list, x)
				return
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			default:
				return
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					add(e)
				}
			}
		case *ast.IncDecStmt:
			add(n.X)
		}
		return true
	})
	return list
}

// TestSizes: what is longer is hard to read, and hides a helper.
func TestSizes(t *testing.T) {
	for _, s := range sources(t) {
		if n := s.set.File(s.file.Pos()).LineCount(); n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d", s.name, n, maxFileLines)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", s.at(f), f.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

// TestNothingUnfinished: what is committed is done.
func TestNothingUnfinished(t *testing.T) {
	marks := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X:", "not implemented yet"}
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, mark := range marks {
				if strings.Contains(group.Text(), mark) {
					t.Errorf("%s: %s", s.at(group), mark)
				}
			}
		}
	}
}
