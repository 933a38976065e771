package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// schemaOf is the JSON Schema as a validator reads it.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sluice.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sluice.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid reports whether the schema takes a file, as an editor would: of a key that is there twice it sees the last.
func valid(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return s.Validate(plain(t, n.Content[0]))
}

func plain(t *testing.T, n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(t, n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, e := range n.Content {
			l[i] = plain(t, e)
		}
		return l
	default:
		var v any
		if err := n.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// What the reader refuses the schema refuses, but for what a schema cannot tell, and the other way round.
func TestSchemaRefuses(t *testing.T) {
	s := schemaOf(t)
	for _, m := range mistakes {
		if err := valid(t, s, m.yaml); (err == nil) != m.unschemed {
			t.Errorf("%q: %v", m.yaml, err)
		}
	}
}

// Every key takes in the schema what the reader takes there, and nothing else: each is tried with values of all kinds,
// in the file and in an environment.
func TestSchemaTypes(t *testing.T) {
	s := schemaOf(t)
	values := []string{"text", "8", "0", "129", "2.5", "true", "[]", "[a]", "[[a]]", "[1]", "{}", "{A: x}", "{A: }", "{A: 1}", "{A: true}", "{A: [x]}", "{A: {env: X}}", "{A: {file: x}}", "{A: {file: x, env: X}}", "{A: {parallelism: 2}}", "{A: {parallelism: x}}", "{A: {name: x}}"}
	// A file's name and a text are read as they stand, whatever they look like, so that more is taken than is told.
	lenient := map[string]bool{"name": true, "default-environment": true, "checkpoint-interval": true, "state-directory": true}
	tried := 0
	for _, k := range Keys() {
		for _, v := range values {
			files := []string{k.Name + ": " + v + "\n"}
			for _, other := range []string{"name: p\n", "sql: [p.sql]\n"} {
				if !strings.HasPrefix(other, k.Name+":") {
					files[0] += other
				}
			}
			if k.Name == "default-environment" {
				files[0] += "environments: {text: {}}\n"
			}
			inEnvironment := least + "environments:\n  e:\n    " + k.Name + ": " + v + "\n"
			files = append(files, inEnvironment)
			for _, file := range files {
				tried++
				_, refused := load(t, file)
				told := valid(t, s, file)
				scalar := v[0] != '[' && v[0] != '{'
				if refused == nil && told != nil && (scalar && lenient[k.Name] || v == "[1]") {
					continue // stricter for an editor's sake
				}
				if k.Name == "checkpoint-interval" && v == "text" {
					continue // the form of a time
				}
				if (refused == nil) != (told == nil) {
					t.Errorf("%q: the reader says %v, the schema %v", file, refused, told)
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d files were tried", tried)
	}
}

// The pipelines that people begin with are as the schema wants them.
func TestSchemaOfExamples(t *testing.T) {
	s := schemaOf(t)
	files, err := filepath.Glob("../../../../examples/*/" + FileName)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../scaffold/files/"+FileName) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(t, s, string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if _, err := Load(filepath.Dir(file)); err != nil {
			t.Error(err)
		}
	}
}
