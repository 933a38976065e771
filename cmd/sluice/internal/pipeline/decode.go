package pipeline

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sluicesql/sluice/cmd/sluice/internal/vars"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/internal/secret"
	"github.com/sluicesql/sluice/sql/ast"
)

// key is a key of an object in the file. The keys that are declared drive reading, near names, the JSON Schema and the
// reference.
type key struct {
	name     string
	help     string
	schema   schema
	required bool
	read     func(d *decoder, n *yaml.Node)
}

// keys are those of the whole file.
func (p *Pipeline) keys() []key {
	own := []key{
		{
			name: "name", help: "Name of the pipeline, by which `sluice status` and the like find its job.", schema: schema{"type": "string", "pattern": namePattern.String()}, required: true,
			read: func(d *decoder, n *yaml.Node) {
				if p.Name = d.text(n); p.Name != "" && !namePattern.MatchString(p.Name) {
					d.errorf(n, "use letters, digits, '.', '_' and '-', a letter or digit first", "%q is no name for a pipeline", p.Name)
				}
			},
		},
		{
			name: "sql", help: "SQL files, in order: together they are the pipeline's script. Paths are relative to the folder.", schema: schema{"type": "array", "items": schema{"type": "string"}, "minItems": 1}, required: true,
			read: func(d *decoder, n *yaml.Node) {
				if p.SQL = d.paths(n); p.SQL != nil && len(target(n).Content) == 0 {
					d.errorf(n, "name its files", "a pipeline has at least one SQL file")
				}
			},
		},
		{
			name: "default-environment", help: "Environment that runs without `--env`.", schema: schema{"type": "string"},
			read: func(d *decoder, n *yaml.Node) { p.Default, d.defaultNode = d.text(n), n },
		},
		{
			name: "environments", help: "Settings by environment; each goes before the pipeline's own.", schema: schema{"type": "object", "additionalProperties": schema{"anyOf": []schema{{"$ref": "#/$defs/settings"}, {"type": "null"}}}},
			read: func(d *decoder, n *yaml.Node) {
				p.environments = map[string]*Settings{}
				d.each(n, func(name string, at, v *yaml.Node) {
					if !namePattern.MatchString(name) {
						d.errorf(at, "use letters, digits, '.', '_' and '-', a letter or digit first", "%q is no name for an environment", name)
					}
					s := &Settings{}
					p.environments[name] = s
					if !isNull(v) {
						d.object(v, s.keys())
					}
				})
			},
		},
	}
	return append(own, p.base.keys()...)
}

// keys are those that the pipeline and each environment have.
func (s *Settings) keys() []key {
	return []key{
		{
			name: "variables", help: "What `${NAME}` stands for in the SQL.", schema: schema{"type": "object", "additionalProperties": schema{"type": []string{"string", "number", "boolean"}}},
			read: func(d *decoder, n *yaml.Node) {
				s.Variables = map[string]string{}
				d.each(n, func(name string, at, v *yaml.Node) {
					d.variableName(name, at)
					if secret.Named(name) {
						d.hide(at, v)
						d.errorf(at, "move it to secrets, as "+name+": {env: "+name+"}, or {file: PATH}", "%s looks like a secret, and a file under version control holds none", name)
						return
					}
					s.Variables[name] = d.text(v)
					if secret.InText(s.Variables[name]) != nil {
						d.hide(at, v)
						d.errorf(v, "move it to secrets, as "+name+": {env: "+name+"}, or {file: PATH}", "the address holds a secret, and a file under version control holds none")
					}
				})
			},
		},
		{
			name: "secrets", help: "Variables whose values stand elsewhere, and are never shown: `{env: NAME}` names a variable of the process's environment, `{file: PATH}` a file that holds the value.",
			schema: schema{"type": "object", "additionalProperties": schema{"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false, "properties": schema{"env": schema{"type": "string"}, "file": schema{"type": "string"}}}},
			read: func(d *decoder, n *yaml.Node) {
				s.Secrets = map[string]Reference{}
				d.each(n, func(name string, at, v *yaml.Node) {
					d.variableName(name, at)
					s.Secrets[name] = d.reference(name, at, v)
				})
			},
		},
		{
			name: "options", help: "Session options, as `SET 'key' = 'value'` before the first statement.", schema: schema{"type": "object", "additionalProperties": schema{"type": []string{"string", "number", "boolean"}}},
			read: func(d *decoder, n *yaml.Node) {
				s.Options = map[string]ast.Option{}
				d.each(n, func(name string, at, v *yaml.Node) {
					s.Options[name] = ast.Option{Key: name, KeyPos: d.placeOf(at), Value: d.text(v), ValuePos: d.placeOf(v)}
				})
			},
		},
		{
			name: "parallelism", help: fmt.Sprintf("Number of shards, 1 to %d; without it `parallelism.default`, else the number of cores.", keyenc.KeyGroups), schema: schema{"type": "integer", "minimum": 1, "maximum": keyenc.KeyGroups},
			read: func(d *decoder, n *yaml.Node) {
				text := d.text(n)
				if v, err := strconv.Atoi(text); err == nil && v >= 1 && v <= keyenc.KeyGroups {
					s.Parallelism = v
				} else if text != "" {
					d.errorf(n, "", "parallelism %s: the number of shards is 1 to %d", text, keyenc.KeyGroups)
				}
			},
		},
		{
			name: "checkpoint-interval", help: "Time between checkpoints, such as `10 s`.", schema: schema{"type": "string"},
			read: func(d *decoder, n *yaml.Node) {
				s.CheckpointInterval = d.text(n)
				if _, err := (spi.Options{"i": s.CheckpointInterval}).Duration("i", 0); err != nil && s.CheckpointInterval != "" {
					d.errorf(n, "write a number and a unit, such as 10 s or 500 ms", "%q is no time", s.CheckpointInterval)
				}
			},
		},
		{
			name: "state-directory", help: "Where state and checkpoints are kept, relative to the folder; without it state is in memory alone.", schema: schema{"type": "string"},
			read: func(d *decoder, n *yaml.Node) { s.StateDir = d.path(n) },
		},
		{
			name: "embed", help: "Files of records: the environment runs on a broker inside the process that holds them, and `${KAFKA_BROKERS}` names it.", schema: schema{"type": "array", "items": schema{"type": "string"}},
			read: func(d *decoder, n *yaml.Node) { s.Embed = d.paths(n) },
		},
	}
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// decoder reads a file and collects its mistakes.
type decoder struct {
	p           *Pipeline
	errs        ast.ErrorList
	defaultNode *yaml.Node
}

// yamlError is a message of the YAML library, which begins with a line.
var yamlError = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// decode reads p.Text. The error is an ast.ErrorList of all that is wrong.
func (p *Pipeline) decode() error {
	d := &decoder{p: p}
	dec := yaml.NewDecoder(strings.NewReader(p.Text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		line, msg := 1, err.Error()
		if m := yamlError.FindStringSubmatch(msg); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				line = n
			}
			msg = m[2]
		}
		if strings.TrimSpace(msg) == "EOF" {
			msg = "the file is empty"
		}
		e := &ast.Error{Pos: d.place(line, 1), Msg: "this is no YAML: " + msg, Code: fault.Pipeline}
		if strings.HasPrefix(p.Text[e.Pos.Offset:], "\t") {
			e.Hint = "indent lines by spaces: YAML takes no tabs"
		}
		return ast.ErrorList{e}
	}
	if dec.Decode(&more) == nil {
		d.errorf(&more, "", "a %s holds one document", FileName)
		return d.errs
	}
	d.object(doc.Content[0], p.keys())
	if p.Default != "" && p.environments[p.Default] == nil {
		d.errorf(d.defaultNode, d.meant(p.Default, p.Environments()), "there is no environment %q", p.Default)
	}
	return d.errs.Err()
}

// place is a place in the file. Columns count characters.
func (d *decoder) place(line, col int) ast.Pos {
	offset, text := 0, d.p.Text
	for range line - 1 {
		i := strings.IndexByte(text[offset:], '\n')
		if i < 0 {
			break
		}
		offset += i + 1
	}
	for i := 1; i < col && offset < len(text); i++ {
		_, size := utf8.DecodeRuneInString(text[offset:])
		offset += size
	}
	return ast.Pos{File: d.p.Path, Line: line, Col: col, Offset: offset}
}

func (d *decoder) placeOf(n *yaml.Node) ast.Pos { return d.place(max(n.Line, 1), max(n.Column, 1)) }

func (d *decoder) errorf(n *yaml.Node, hint, format string, args ...any) {
	d.errs = append(d.errs, &ast.Error{Pos: d.placeOf(n), Msg: fmt.Sprintf(format, args...), Hint: hint, Code: fault.Pipeline})
}

// hide writes asterisks over the value of a key in the text that errors show: to the end of its line, and over the lines
// below that are indented more than the key's, or are items of a list.
func (d *decoder) hide(key, n *yaml.Node) {
	from := d.place(n.Line, n.Column).Offset
	keyLine := d.p.Text[d.place(key.Line, 1).Offset:]
	indent := len(keyLine) - len(strings.TrimLeft(keyLine, " "))
	hidden := []byte(d.p.Text[:from])
	below := false
	for line := range strings.Lines(d.p.Text[from:]) {
		inner := strings.TrimLeft(line, " ")
		if own := len(line) - len(inner); below && strings.TrimSpace(inner) != "" && own <= indent && (own < indent || inner[0] != '-') {
			break
		}
		text := strings.TrimRight(line, "\r\n")
		hidden = append(append(hidden, strings.Repeat("*", len(text))...), line[len(text):]...)
		below = true
	}
	d.p.Text = string(hidden) + d.p.Text[len(hidden):]
}

// meant is a hint that names what was probably meant, or all there is.
func (d *decoder) meant(name string, known []string) string {
	if n := near.Name(name, known); n != "" {
		return "did you mean " + n + "?"
	}
	if len(known) == 0 {
		return ""
	}
	return "there are " + list(known)
}

// list is "a, b and c".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// target is the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { n = target(n); return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// each calls f for each key of an object.
func (d *decoder) each(n *yaml.Node, f func(name string, at, v *yaml.Node)) {
	t := target(n)
	if t.Kind != yaml.MappingNode {
		d.errorf(n, "write key: value", "here an object is wanted")
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(t.Content); i += 2 {
		k, v := target(t.Content[i]), t.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.errorf(k, "", "a key is a word")
			continue
		}
		if seen[k.Value] {
			d.errorf(k, "keep one of them", "%s is there twice", k.Value)
			continue
		}
		seen[k.Value] = true
		f(k.Value, k, v)
	}
}

// object reads an object with the given keys.
func (d *decoder) object(n *yaml.Node, keys []key) {
	names := make([]string, len(keys))
	missing := map[string]bool{}
	for i, k := range keys {
		names[i] = k.name
		if k.required {
			missing[k.name] = true
		}
	}
	d.each(n, func(name string, at, v *yaml.Node) {
		delete(missing, name)
		for _, k := range keys {
			if k.name == name {
				k.read(d, v)
				return
			}
		}
		if secret.Named(name) {
			d.hide(at, v)
		}
		d.errorf(at, d.meant(name, names), "unknown key %q", name)
	})
	if target(n).Kind != yaml.MappingNode {
		return
	}
	for _, name := range names {
		if missing[name] {
			d.errorf(n, "", "%s is missing", name)
		}
	}
}

// text is the text of a single value, as it stands: 007 and no are what they look like.
func (d *decoder) text(n *yaml.Node) string {
	t := target(n)
	switch {
	case t.Kind != yaml.ScalarNode:
		d.errorf(n, "", "here a single value is wanted")
		return ""
	case t.Tag == "!!null" && t.Value != "null":
		d.errorf(n, `write "" for an empty text`, "here a value is missing")
		return ""
	}
	return t.Value
}

// path is a path, with the folder before it unless it is absolute.
func (d *decoder) path(n *yaml.Node) string {
	s := d.text(n)
	if s == "" || filepath.IsAbs(s) {
		return s
	}
	return filepath.Join(d.p.Dir, s)
}

// paths are those of a list.
func (d *decoder) paths(n *yaml.Node) []string {
	t := target(n)
	if t.Kind != yaml.SequenceNode {
		d.errorf(n, "write [FILE, …], or a line with - FILE for each", "here a list of files is wanted")
		return nil
	}
	out := []string{}
	for _, item := range t.Content {
		if p := d.path(item); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func (d *decoder) variableName(name string, at *yaml.Node) {
	if !vars.ValidName(name) {
		d.errorf(at, "", "%q: a variable's name consists of letters, digits and _, and does not start with a digit", name)
	}
}

// reference reads where a secret is. A value in its place is not repeated by the error.
func (d *decoder) reference(name string, at, n *yaml.Node) (r Reference) {
	if target(n).Kind != yaml.MappingNode {
		d.hide(at, n)
		d.errorf(n, "write {env: NAME} for a variable of the process's environment, or {file: PATH}", "the secret %s stands here itself; a file under version control only says where it is", name)
		return r
	}
	mistakes := len(d.errs)
	d.object(n, []key{
		{name: "env", read: func(d *decoder, n *yaml.Node) { r.Env = d.text(n) }},
		{name: "file", read: func(d *decoder, n *yaml.Node) { r.File = d.path(n) }},
	})
	if len(d.errs) == mistakes && (r.Env == "") == (r.File == "") {
		d.errorf(n, "", "the secret %s wants one of env and file", name)
	}
	return r
}
