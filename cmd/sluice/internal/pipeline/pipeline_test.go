package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/sql/ast"
)

// load loads a sluice.yaml of a new folder.
func load(t *testing.T, text string) (*Pipeline, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(dir)
}

const least = "name: p\nsql: [p.sql]\n"

// mistakes are files with one mistake each, its place and what is said of it. Those that the JSON Schema cannot tell are
// marked: names that look like secrets, references between keys, and the form of times.
var mistakes = []struct {
	yaml      string
	at        string // line:column
	says      string
	hint      string
	unschemed bool
}{
	// Unknown keys, with the nearest known one, at every level.
	{yaml: least + "paralelism: 2\n", at: "3:1", says: `unknown key "paralelism"`, hint: "did you mean parallelism?"},
	{yaml: least + "embedd: []\n", at: "3:1", says: `unknown key "embedd"`, hint: "did you mean embed?"},
	{yaml: least + "colour: red\n", at: "3:1", says: `unknown key "colour"`, hint: "there are name, sql,"},
	{yaml: least + "environments:\n  dev:\n    variable: {A: x}\n", at: "5:5", says: `unknown key "variable"`, hint: "did you mean variables?"},
	{yaml: least + "environments:\n  dev: {name: q}\n", at: "4:9", says: `unknown key "name"`},
	{yaml: least + "environments:\n  dev: {sql: [q.sql]}\n", at: "4:9", says: `unknown key "sql"`},
	{yaml: least + "secrets:\n  S: {evn: X}\n", at: "4:7", says: `unknown key "evn"`, hint: "did you mean env?"},
	// Wrong types.
	{yaml: "name: [p]\nsql: [p.sql]\n", at: "1:7", says: "a single value is wanted"},
	{yaml: "name:\nsql: [p.sql]\n", at: "1:6", says: "a value is missing"},
	{yaml: "name: p\nsql: p.sql\n", at: "2:6", says: "a list of files is wanted", hint: "- FILE"},
	{yaml: "name: p\nsql: {a: p.sql}\n", at: "2:6", says: "a list of files is wanted"},
	{yaml: "name: p\nsql: [[p.sql]]\n", at: "2:7", says: "a single value is wanted"},
	{yaml: least + "variables: [A]\n", at: "3:12", says: "an object is wanted", hint: "key: value"},
	{yaml: least + "variables: {A: [x]}\n", at: "3:16", says: "a single value is wanted"},
	{yaml: least + "options: x\n", at: "3:10", says: "an object is wanted"},
	{yaml: least + "options: {a: {b: c}}\n", at: "3:14", says: "a single value is wanted"},
	{yaml: least + "environments: [dev]\n", at: "3:15", says: "an object is wanted"},
	{yaml: least + "environments: {dev: 1}\n", at: "3:21", says: "an object is wanted"},
	{yaml: least + "parallelism: many\n", at: "3:14", says: "parallelism many: the number of shards is 1 to 128"},
	{yaml: least + "parallelism: 0\n", at: "3:14", says: "parallelism 0: the number of shards is 1 to 128"},
	{yaml: least + "parallelism: 129\n", at: "3:14", says: "parallelism 129: the number of shards is 1 to 128"},
	{yaml: least + "parallelism: 2.5\n", at: "3:14", says: "parallelism 2.5: the number of shards is 1 to 128"},
	{yaml: least + "checkpoint-interval: soon\n", at: "3:22", says: `"soon" is no time`, hint: "10 s", unschemed: true},
	{yaml: least + "state-directory: [s]\n", at: "3:18", says: "a single value is wanted"},
	{yaml: least + "embed: in.jsonl\n", at: "3:8", says: "a list of files is wanted"},
	{yaml: "- name: p\n", at: "1:1", says: "an object is wanted"},
	// What is missing.
	{yaml: "name: p\n", at: "1:1", says: "sql is missing"},
	{yaml: "sql: [p.sql]\n", at: "1:1", says: "name is missing"},
	{yaml: "name: p\nsql: []\n", at: "2:6", says: "a pipeline has at least one SQL file"},
	// Names.
	{yaml: "name: a b\nsql: [p.sql]\n", at: "1:7", says: `"a b" is no name for a pipeline`, hint: "letters"},
	{yaml: least + "environments: {a b: {}}\n", at: "3:16", says: `"a b" is no name for an environment`, unschemed: true},
	{yaml: least + "variables: {1A: x}\n", at: "3:13", says: `"1A": a variable's name`, unschemed: true},
	{yaml: least + "default-environment: pord\nenvironments: {prod: {}}\n", at: "3:22", says: `there is no environment "pord"`, hint: "did you mean prod?", unschemed: true},
	// What is there twice, at every level. (To a schema there is one value for each key.)
	{yaml: least + "name: q\n", at: "3:1", says: "name is there twice", hint: "keep one", unschemed: true},
	{yaml: least + "variables:\n  A: x\n  A: y\n", at: "5:3", says: "A is there twice", unschemed: true},
	{yaml: least + "secrets:\n  A: {env: x}\n  A: {env: y}\n", at: "5:3", says: "A is there twice", unschemed: true},
	{yaml: least + "environments:\n  e: {}\n  e: {}\n", at: "5:3", says: "e is there twice", unschemed: true},
	{yaml: least + "environments:\n  e:\n    embed: []\n    embed: []\n", at: "6:5", says: "embed is there twice", unschemed: true},
	// Secrets that stand in the file themselves. Their values are told by the word geheim.
	{yaml: least + "variables:\n  DB_PASSWORD: geheim\n", at: "4:3", says: "DB_PASSWORD looks like a secret", hint: "{env: DB_PASSWORD}", unschemed: true},
	{yaml: least + "environments:\n  e:\n    variables: {API_SECRET: geheim}\n", at: "5:17", says: "API_SECRET looks like a secret", unschemed: true},
	{yaml: least + "variables:\n  REGISTRY: https://u:geheim@h\n", at: "4:13", says: "the address holds a secret", hint: "{env: REGISTRY}", unschemed: true},
	{yaml: least + "secrets:\n  S: geheim\n", at: "4:6", says: "the secret S stands here itself", hint: "{env: NAME}"},
	{yaml: least + "secrets:\n  S: [geheim]\n", at: "4:6", says: "the secret S stands here itself"},
	{yaml: least + "secrets:\n  S: |\n    geheim\n    geheim\n", at: "4:6", says: "the secret S stands here itself"},
	{yaml: least + "variables:\n  PASSWORD: >-\n    geheim\n", at: "4:3", says: "PASSWORD looks like a secret", unschemed: true},
	{yaml: least + "variables:\n  PASSWORD:\n    - geheim\n", at: "4:3", says: "PASSWORD looks like a secret"},
	{yaml: least + "secrets:\n  S:\n  - geheim\n  - geheim\n", at: "5:3", says: "the secret S stands here itself"},
	{yaml: least + "secrets:\n  S: \"a\n   geheim\"\n", at: "4:6", says: "the secret S stands here itself"},
	{yaml: least + "secrets:\n  S:\n    geheim\n\n    geheim\nembed: []\n", at: "5:5", says: "the secret S stands here itself"},
	{yaml: least + "secrets:\n  S: {}\n", at: "4:6", says: "wants one of env and file"},
	{yaml: least + "secrets:\n  S: {env: A, file: b}\n", at: "4:6", says: "wants one of env and file"},
	{yaml: least + "password: geheim\n", at: "3:1", says: `unknown key "password"`},
}

// Every mistake is told with its place, what is wrong and what to do, and shows no secret: neither in words nor in the
// text that errors quote.
func TestMistakes(t *testing.T) {
	for _, m := range mistakes {
		p, err := load(t, m.yaml)
		var list ast.ErrorList
		if !errors.As(err, &list) || len(list) != 1 {
			t.Errorf("%q: %v", m.yaml, err)
			continue
		}
		e := list[0]
		if at := fmt.Sprintf("%d:%d", e.Pos.Line, e.Pos.Col); at != m.at || e.Pos.File != p.Path || !strings.Contains(e.Msg, m.says) || !strings.Contains(e.Hint, m.hint) || e.Code != fault.Pipeline {
			t.Errorf("%q: %s: %s [%s]; %s\nwant %s: %s; %s", m.yaml, at, e.Msg, e.Code, e.Hint, m.at, m.says, m.hint)
		}
		if shown := p.Text + e.Msg + e.Hint; strings.Contains(shown, "geheim") {
			t.Errorf("%q shows the secret: %s", m.yaml, shown)
		}
	}
}

// An environment adds to the pipeline's variables, secrets and options, and replaces the rest. A variable of a name hides
// a secret of it, and the other way round.
func TestPrecedence(t *testing.T) {
	p, err := load(t, least+`default-environment: dev
variables: {A: base, B: 007, HIDDEN: x}
secrets: {S: {env: BASE}, SHOWN: {file: s}}
options: {a: 1, b: no}
parallelism: 2
checkpoint-interval: 1 s
state-directory: base
embed: [base.jsonl]
environments:
  dev:
  prod:
    variables: {A: prod, SHOWN: y}
    secrets: {S: {file: /abs}, HIDDEN: {env: H}}
    options: {b: "yes", c: 1.50}
    parallelism: 8
    checkpoint-interval: 10 s
    state-directory: /state
    embed: []
`)
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(p.Dir, name) }
	d := &decoder{p: p}
	option := func(key, value string, line, keyCol, valueCol int) ast.Option {
		return ast.Option{Key: key, KeyPos: d.place(line, keyCol), Value: value, ValuePos: d.place(line, valueCol)}
	}
	base := &Settings{Variables: map[string]string{"A": "base", "B": "007", "HIDDEN": "x"}, Secrets: map[string]Reference{"S": {Env: "BASE"}, "SHOWN": {File: in("s")}},
		Options: map[string]ast.Option{"a": option("a", "1", 6, 11, 14), "b": option("b", "no", 6, 17, 20)}, Parallelism: 2, CheckpointInterval: "1 s", StateDir: in("base"), Embed: []string{in("base.jsonl")}}
	prod := &Settings{Variables: map[string]string{"A": "prod", "B": "007", "SHOWN": "y"}, Secrets: map[string]Reference{"S": {File: "/abs"}, "HIDDEN": {Env: "H"}},
		Options: map[string]ast.Option{"a": option("a", "1", 6, 11, 14), "b": option("b", "yes", 16, 15, 18), "c": option("c", "1.50", 16, 25, 28)}, Parallelism: 8, CheckpointInterval: "10 s", StateDir: "/state", Embed: []string{}}
	for env, want := range map[string]*Settings{"": base, "dev": base, "prod": prod} {
		if got, err := p.In(env); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v\nwant %+v", env, got, err, want)
		}
	}
	if got, want := strings.Join(p.SecretNames(), " "), "HIDDEN S SHOWN"; got != want {
		t.Errorf("secrets %s, want %s", got, want)
	}
	if _, err := p.In("pord"); err == nil || !strings.Contains(err.Error(), `no environment "pord"`) {
		t.Error(err)
	}
}

// Paths are relative to the folder, wherever in the file they stand and wherever the process is.
func TestPaths(t *testing.T) {
	p, err := load(t, "name: p\nsql: [a.sql, ../b.sql, /c.sql]\nsecrets: {S: {file: d/e}}\nenvironments: {e: {state-directory: ./s, embed: [../x.jsonl]}}\n")
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.In("e")
	if err != nil {
		t.Fatal(err)
	}
	got := append(append(append([]string{}, p.SQL...), s.Secrets["S"].File, s.StateDir), s.Embed...)
	up := filepath.Dir(p.Dir)
	want := []string{p.Dir + "/a.sql", up + "/b.sql", "/c.sql", p.Dir + "/d/e", p.Dir + "/s", up + "/x.jsonl"}
	for i := range want {
		want[i] = filepath.FromSlash(want[i])
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A secret's value comes from where its reference says. Where it cannot, all places are named, and no value is.
func TestResolve(t *testing.T) {
	t.Setenv("PIPELINE_TEST_SET", "geheim1")
	t.Setenv("PIPELINE_TEST_EMPTY", "")
	dir := t.TempDir()
	file := func(name, text string) Reference {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Reference{File: filepath.Join(dir, name)}
	}
	right := &Settings{Secrets: map[string]Reference{"A": {Env: "PIPELINE_TEST_SET"}, "B": file("b", "geheim2\n"), "C": file("c", "geheim3\r\n"), "D": file("d", " two\nlines\n\n")}}
	values, err := right.Resolve()
	if want := map[string]string{"A": "geheim1", "B": "geheim2", "C": "geheim3", "D": " two\nlines\n"}; err != nil || !maps.Equal(values, want) {
		t.Errorf("%q, %v", values, err)
	}
	wrong := &Settings{Secrets: map[string]Reference{"A": {Env: "PIPELINE_TEST_SET"}, "UNSET": {Env: "PIPELINE_TEST_UNSET"}, "EMPTY": {Env: "PIPELINE_TEST_EMPTY"},
		"GONE": {File: filepath.Join(dir, "gone")}, "BLANK": file("blank", "\n"), "FOLDER": {File: dir}}}
	_, err = wrong.Resolve()
	if err == nil {
		t.Fatal("no error")
	}
	for _, says := range []string{"secret UNSET: the environment has no variable PIPELINE_TEST_UNSET", "secret EMPTY: the environment's variable PIPELINE_TEST_EMPTY: it is empty", "secret GONE: ", filepath.Join(dir, "gone"), "secret BLANK: ", "secret FOLDER: "} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("without %q:\n%v", says, err)
		}
	}
	if strings.Contains(err.Error(), "geheim") {
		t.Errorf("a secret is shown:\n%v", err)
	}
}

// What is no YAML, and what is more than one document, is refused with its line.
func TestNoYAML(t *testing.T) {
	for text, says := range map[string]string{"": "the file is empty", "# only\n": "the file is empty", "name: p\nsql: [a\n": "this is no YAML", "name: p\n\tsql: []\n": "this is no YAML", least + "---\n" + least: "holds one document", least + "*a : b\n": "this is no YAML"} {
		var list ast.ErrorList
		if _, err := load(t, text); !errors.As(err, &list) || !strings.Contains(list[0].Msg, says) || list[0].Pos.Line < 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
	var list ast.ErrorList
	if _, err := load(t, "name: p\nsql:\n\t- a\n"); !errors.As(err, &list) || !strings.Contains(list[0].Hint, "indent lines by spaces") {
		t.Error(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sluice.yml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "rename "+filepath.Join(dir, "sluice.yml")) {
		t.Error(err)
	}
	_, err := Load(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "is a directory without a sluice.yaml") {
		t.Error(err)
	}
}
