package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sluicesql/sluice"

// dataPlane is what every row passes through. It imports the standard library
// and itself, so that any room can use it and a connector needs nothing else.
var dataPlane = []string{"engine/changelog", "engine/decimal", "engine/keyenc", "engine/row", "engine/text", "engine/types"}

// room is a folder and what its packages may import, beside the standard library
// and its own folder. A package belongs to the room with the longest folder
// that holds it. Tests may import what they like, but for guarded packages.
type room struct {
	folder string
	may    []string // folders of this module; their subfolders are included
	others []string // packages of other modules, by prefix; "*" is any
}

// rooms is the table of docs/architecture.md: imports point downward only.
var rooms = slices.Concat(
	[]room{
		{folder: "cmd", may: []string{"runtime", "planner", "connectors", "engine", "sql", "internal/embed", "internal/near", "internal/fault", "internal/secret"}, others: []string{"*"}},
		{folder: "runtime", may: []string{"planner", "connectors", "engine", "internal/fault", "internal/near"}, others: []string{"*"}},
		// Values in a plan are packed rows, so the planner knows the data plane too.
		{folder: "planner", may: append([]string{"sql", "engine/expr", "connectors/spi", "internal/near", "internal/fault", "internal/secret"}, dataPlane...)},
		{folder: "connectors", may: append([]string{"connectors", "internal/near", "internal/fault"}, dataPlane...), others: []string{"*"}},
		{folder: "connectors/spi", may: append([]string{"internal/fault"}, dataPlane...)},
		{folder: "engine", may: []string{"engine", "internal/fault"}},
		{folder: "engine/expr", may: []string{"engine", "internal/near", "internal/fault"}},
		{folder: "engine/state", may: []string{"engine", "internal/fault"}, others: []string{"github.com/cockroachdb", "github.com/tidwall/btree", "golang.org/x/sys"}},
		{folder: "sql", may: []string{"sql", "internal/near", "internal/fault"}},
		{folder: "sql/parser", may: []string{"sql", "internal/near", "internal/fault"}, others: []string{"github.com/xwb1989/sqlparser"}},
		// What tests and benchmarks need, which no room above imports but in its
		// tests; and embed, the broker of sluice run --embed.
		{folder: "internal", may: []string{"runtime", "planner", "connectors", "engine", "sql"}, others: []string{"*"}},
		{folder: "internal/fault"},  // a leaf: the codes and the form of everybody's errors
		{folder: "internal/near"},   // a leaf: the nearest known name, for everybody's errors
		{folder: "internal/secret"}, // a leaf: what is not shown, for all that shows something
		{folder: "examples", may: []string{"cmd", "internal", "runtime"}, others: []string{"*"}},
	},
	dataPlaneRooms(),
)

func dataPlaneRooms() []room {
	var rs []room
	for _, folder := range dataPlane {
		rs = append(rs, room{folder: folder, may: dataPlane})
	}
	return rs
}

// guarded are packages of other modules that one room alone knows, in its tests
// too: what comes out of them is translated at the door.
var guarded = map[string]string{
	"github.com/cockroachdb/pebble": "engine/state",
	"github.com/xwb1989/sqlparser":  "sql/parser",
}

func TestImportsPointDownward(t *testing.T) {
	for _, f := range sourceFiles(t) {
		for _, spec := range f.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkImport(f.folder, f.test, imported); err != nil {
				t.Errorf("%s: %v", f.fset.Position(spec.Pos()), err)
			}
		}
	}
}

func TestNothingRegistersItself(t *testing.T) {
	for _, f := range sourceFiles(t) {
		if f.test {
			continue
		}
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: func init: make it a function that its user calls, like kafka.Register(registry)", f.fset.Position(fn.Pos()))
			}
		}
	}
}

// checkImport says why a file in folder may not import a package, or nil.
func checkImport(folder string, test bool, imported string) error {
	for prefix, owner := range guarded {
		if under(imported, prefix) && !under(folder, owner) {
			return fmt.Errorf("only %s may import %s", owner, imported)
		}
	}
	r, ok := roomOf(folder)
	if !ok {
		return fmt.Errorf("folder %s is in no room; add it to the table in internal/house with what it may import", folder)
	}
	if test {
		return nil
	}
	target, ours := strings.CutPrefix(imported, module+"/")
	switch {
	case ours:
		if under(target, r.folder) || slices.ContainsFunc(r.may, func(f string) bool { return under(target, f) }) {
			return nil
		}
		return fmt.Errorf("%s may not import %s; it may import %s", r.folder, target, list(r.may))
	case standard(imported):
		return nil
	case slices.ContainsFunc(r.others, func(p string) bool { return p == "*" || under(imported, p) }):
		return nil
	default:
		return fmt.Errorf("%s may not import %s; of other modules it may import %s", r.folder, imported, list(r.others))
	}
}

// roomOf finds the room with the longest folder that holds folder.
func roomOf(folder string) (room, bool) {
	var best room
	for _, r := range rooms {
		if under(folder, r.folder) && len(r.folder) > len(best.folder) {
			best = r
		}
	}
	return best, best.folder != ""
}

// under reports whether p is folder or lies in it.
func under(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, folder+"/")
}

// standard reports whether a package is of the standard library: its path's first
// element has no dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func list(folders []string) string {
	if len(folders) == 0 {
		return "none"
	}
	return strings.Join(folders, ", ")
}

// sourceFile is a Go file of the project, whatever its build constraints.
type sourceFile struct {
	folder string // relative to the project's root, with slashes
	test   bool
	fset   *token.FileSet
	syntax *ast.File
}

func sourceFiles(t *testing.T) []sourceFile {
	t.Helper()
	root := filepath.Join("..", "..")
	fset := token.NewFileSet()
	var files []sourceFile
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		syntax, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		files = append(files, sourceFile{path.Dir(filepath.ToSlash(rel)), strings.HasSuffix(name, "_test.go"), fset, syntax})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("only %d Go files under %s: the walk is wrong", len(files), root)
	}
	return files
}

// The checks themselves: what they must refuse and what they must let pass.
func TestCheckImport(t *testing.T) {
	const pebble, sqlparser = "github.com/cockroachdb/pebble/v2", "github.com/xwb1989/sqlparser"
	for _, c := range []struct {
		folder, imported string
		test, allowed    bool
	}{
		{"engine/row", "encoding/binary", false, true},
		{"engine/row", module + "/engine/types", false, true},
		{"engine/row", module + "/engine/op", false, false},
		{"engine/row", "golang.org/x/sys/unix", false, false},
		{"engine/op", module + "/engine/state", false, true},
		{"engine/op", module + "/planner", false, false},
		{"engine/op", module + "/planner", true, true},
		{"engine/op", pebble, false, false},
		{"engine/op", pebble + "/vfs", true, false},
		{"engine/state", pebble + "/vfs", false, true},
		{"engine/state/hot", "golang.org/x/sys/unix", false, true},
		{"sql/ast", module + "/sql/parser", false, true},
		{"sql/parser", sqlparser, false, true},
		{"sql/parser", module + "/engine/types", false, false},
		{"planner", sqlparser, true, false},
		{"planner", module + "/connectors/spi", false, true},
		{"planner", module + "/connectors/kafka", false, false},
		{"connectors/kafka", "github.com/twmb/franz-go/pkg/kgo", false, true},
		{"connectors/kafka", module + "/connectors/spi", false, true},
		{"connectors/kafka", module + "/engine/op", false, false},
		{"connectors/spi", module + "/connectors/kafka", false, false},
		{"runtime", module + "/sql/ast", false, false},
		{"cmd/sluice", module + "/runtime", false, true},
		{"cmd/sluice", module + "/internal/realkafka", false, false},
		{"cmd/sluice", module + "/internal/realkafka", true, true},
		{"attic", "fmt", false, false},
	} {
		err := checkImport(c.folder, c.test, c.imported)
		if (err == nil) != c.allowed {
			t.Errorf("%s imports %s (test file: %t): %v", c.folder, c.imported, c.test, err)
		}
	}
}
