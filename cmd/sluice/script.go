package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/cmd/sluice/internal/diag"
	"github.com/sluicesql/sluice/cmd/sluice/internal/pipeline"
	"github.com/sluicesql/sluice/cmd/sluice/internal/redact"
	"github.com/sluicesql/sluice/cmd/sluice/internal/vars"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

// stdinName is the name that errors give to standard input.
const stdinName = "stdin"

// brokersVariable is the variable that names the broker which --embed starts.
const brokersVariable = "KAFKA_BROKERS"

// sourceTexts are the texts of files as the user wrote them, by name, and the secrets that no message shows.
type sourceTexts struct {
	texts   *textTable
	secrets *redact.Secrets
}

func newSourceTexts() sourceTexts {
	return sourceTexts{&textTable{}, &redact.Secrets{}}
}

// apart are sourceTexts of their own with the same secrets: for one who reads files with other variables than others
// do at the same time.
func (s sourceTexts) apart() sourceTexts { return sourceTexts{&textTable{}, s.secrets} }

// textTable holds texts by the names of their files.
type textTable struct {
	mu     sync.Mutex
	byFile map[string]*vars.Text
}

// of is the text of a file; nil when it was not read.
func (t *textTable) of(file string) *vars.Text {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byFile[file]
}

func (t *textTable) keep(text *vars.Text) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byFile == nil {
		t.byFile = map[string]*vars.Text{}
	}
	t.byFile[text.File] = text
}

func (s sourceTexts) text(file string) (string, bool) {
	t := s.texts.of(file)
	if t == nil {
		return "", false
	}
	return t.Original, true
}

// script is the text of SQL files in order, as the user wrote them but for secrets.
func (s sourceTexts) script(files []string) string {
	var b strings.Builder
	for _, file := range files {
		if file == "-" {
			file = stdinName
		}
		text, _ := s.text(file)
		b.WriteString(diag.Mask(text))
		if !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
	}
	return s.secrets.Text(b.String())
}

// locate turns places in the texts with variables replaced, as the parser and the planner see them, into
// places in the files. Errors without places it returns as they are.
func (s sourceTexts) locate(err error) error {
	var list ast.ErrorList
	var one *ast.Error
	switch {
	case errors.As(err, &list):
		moved := make(ast.ErrorList, len(list))
		for i, e := range list {
			moved[i] = s.locateOne(e)
		}
		return moved
	case errors.As(err, &one):
		return s.locateOne(one)
	}
	if at, ok := s.position(fault.Place(err)); ok {
		e := ast.Placed(at, err, "")
		e.Msg = strings.Replace(e.Msg, at.String()+": ", "", 1)
		return s.locateOne(e)
	}
	return err
}

// position reads file:line:column, a place in a text with variables replaced.
func (s sourceTexts) position(place string) (ast.Pos, bool) {
	rest, column := cutLast(place)
	file, line := cutLast(rest)
	l, lerr := strconv.Atoi(line)
	c, cerr := strconv.Atoi(column)
	t := s.texts.of(file)
	if t == nil || lerr != nil || cerr != nil {
		return ast.Pos{}, false
	}
	return t.At(l, c)
}

// cutLast cuts s around its last colon.
func cutLast(s string) (before, after string) {
	i := max(strings.LastIndexByte(s, ':'), 0)
	return s[:i], s[min(i+1, len(s)):]
}

func (s sourceTexts) locateOne(e *ast.Error) *ast.Error {
	t := s.texts.of(e.Pos.File)
	if t == nil {
		return e
	}
	moved := *diag.Hide(e, t.Expanded)
	var variable string
	moved.Pos, variable = t.Locate(e.Pos)
	if variable != "" {
		note := "this is the value of ${" + variable + "}"
		if moved.Hint != "" {
			note = moved.Hint + "; " + note
		}
		moved.Hint = note
	}
	return &moved
}

// variableFlag is the flag --set-var.
type variableFlag []string

func (v *variableFlag) add(flags *pflag.FlagSet) {
	flags.StringArrayVar((*[]string)(v), "set-var", nil, "set a variable, `NAME=VALUE`: what ${NAME} stands for in the SQL; goes before the environment (repeatable)")
}

// set is what variables stand for: those of the flag, then those given, then the environment.
func (v variableFlag) set(given map[string]string) (*vars.Set, error) {
	set := &vars.Set{Values: map[string]string{}, Environ: os.LookupEnv}
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		set.Known = append(set.Known, name)
	}
	for k, val := range given {
		set.Values[k] = val
	}
	for _, s := range v {
		name, value, err := keyValue("set-var", s)
		if err != nil {
			return nil, err
		}
		if !vars.ValidName(name) {
			return nil, wrong(fmt.Errorf("--set-var %s=…: a variable's name consists of letters, digits and _, and does not start with a digit", name))
		}
		set.Values[name] = value
	}
	return set, nil
}

// parse reads the files, replaces variables, and parses them as one script, in order. All mistakes are
// reported together.
func (s sourceTexts) parse(files []string, set *vars.Set) ([]ast.Statement, error) {
	var stmts []ast.Statement
	var mistakes ast.ErrorList
	for _, file := range files {
		name, src, err := readScript(file)
		if err != nil {
			return nil, wrong(err)
		}
		parsed, err := s.parseText(name, src, set)
		if list, ok := errors.AsType[ast.ErrorList](err); ok {
			mistakes = append(mistakes, list...)
		} else if err != nil {
			return nil, wrong(err)
		}
		stmts = append(stmts, parsed...)
	}
	if err := mistakes.Err(); err != nil {
		return nil, wrong(err)
	}
	return stmts, nil
}

// parseText parses the text of one file.
func (s sourceTexts) parseText(name, src string, set *vars.Set) ([]ast.Statement, error) {
	text, err := set.Expand(name, src)
	if err != nil {
		s.show(name, src) // for the lines that the error shows
		return nil, err
	}
	s.texts.keep(text)
	stmts, err := parser.Parse(name, text.Expanded)
	return stmts, s.locate(err)
}

// readScript is the text of a SQL file, with the name by which errors call it.
func readScript(file string) (name, text string, err error) {
	if file == "-" {
		b, err := io.ReadAll(io.LimitReader(os.Stdin, parser.MaxText+1))
		if err != nil {
			return "", "", fault.Errorf(fault.File, "read standard input: %w", err)
		}
		return stdinName, string(b), nil
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", noSuchFile(file)
	case err != nil:
		return "", "", err
	case filepath.Base(file) == pipeline.FileName:
		return "", "", fault.Errorf(fault.File, "%s is no SQL: it says what the pipeline in its folder is", file).
			Fix("name the folder: %s", filepath.Dir(file))
	case info.IsDir():
		return "", "", fault.Errorf(fault.File, "%s is a directory", file).
			Fix("name the SQL files in it")
	case info.Size() > parser.MaxText:
		return "", "", fault.Errorf(fault.File, "%s has %d bytes; a script may have %d", file, info.Size(), parser.MaxText).Fix("divide it")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	return file, string(b), nil
}

// noSuchFile names the file beside a missing one that was probably meant.
func noSuchFile(file string) error {
	var names []string
	if entries, err := os.ReadDir(filepath.Dir(file)); err == nil {
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	if known := near.Name(filepath.Base(file), names); known != "" {
		return fault.Errorf(fault.File, "%s: no such file", file).
			Fix("did you mean %s?", filepath.Join(filepath.Dir(file), known))
	}
	return fault.Errorf(fault.File, "%s: no such file", file).Fix("check the name, and the folder that sluice is started in")
}
