package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/sluicesql/sluice/cmd/sluice/internal/diag"
	"github.com/sluicesql/sluice/cmd/sluice/internal/repl"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/parser"
)

// nextInput is the name that errors give to the next text that is typed.
func (s *shell) nextInput() string {
	s.inputs++
	return "input " + strconv.Itoa(s.inputs)
}

// converse reads statements from the terminal and runs them, until the end is asked for.
func (s *shell) converse(historyFile string) error {
	// A crash is to end the process by a signal: the user's shell then gives the terminal its own modes, rather than
	// keeping those that it finds where it is faster than the guard.
	debug.SetTraceback("crash")
	history, err := repl.OpenHistory(historyFile, diag.MaskTyped)
	if err != nil {
		// Better a session without a history than none.
		s.complain(err)
		if history, err = repl.OpenHistory("", diag.MaskTyped); err != nil {
			return err
		}
	}
	s.history = history
	var commands []repl.Candidate
	for _, c := range backslashes() {
		commands = append(commands, repl.Candidate{Text: c.name, Help: c.help, Group: "command"})
	}
	var highlight *repl.Highlighter
	if colorful(os.Stdout) {
		highlight = repl.NewHighlighter()
	}
	editor := repl.NewEditor(history, repl.NewCompleter(sessionCatalog{s.session}, s.registry, planner.SessionOptions(), commands), highlight, s.front.expect)
	fmt.Fprintln(s.out, versionLine()+` · HELP explains, \? lists the commands, \q ends`)
	for !s.quit {
		s.jobs.tell()
		s.held.hold()
		s.front.blockWhenOver()
		text, err := editor.ReadStatement()
		s.held.release()
		switch {
		case errors.Is(err, repl.ErrInterrupt):
			continue // the line is given up, nothing else
		case errors.Is(err, io.EOF):
			s.quit = true
			continue
		}
		if err := s.runText(s.nextInput(), text); err != nil {
			s.complain(err)
		}
	}
	if n := s.jobs.running(); n > 0 {
		fmt.Fprintf(s.notes, "stopping %d jobs in order\n", n)
	}
	return nil
}

// complain shows an error to whoever types.
func (s *shell) complain(err error) {
	if err = told(err); err == nil {
		return
	}
	p := diag.Printer{Out: s.notes, Color: colorful(os.Stderr), Source: s.sources.text}
	p.Print(err)
}

// sessionCatalog is what completion sees of the session.
type sessionCatalog struct{ session *planner.Session }

// answer is the table that a statement shows; nil when it is wrong.
func (c sessionCatalog) answer(text string) [][]string {
	stmts, err := parser.Parse("completion", text)
	if err != nil {
		return nil
	}
	script, err := c.session.Run(stmts)
	if err != nil || len(script.Steps) != 1 {
		return nil
	}
	t, ok := script.Steps[0].(*planner.Text)
	if !ok {
		return nil
	}
	return t.Rows
}

func firstColumn(rows [][]string) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r[0])
	}
	return out
}

// Tables implements repl.Catalog.
func (c sessionCatalog) Tables() []string { return firstColumn(c.answer("SHOW TABLES")) }

// Columns implements repl.Catalog.
func (c sessionCatalog) Columns(table string) []string {
	return firstColumn(c.answer("DESCRIBE " + "`" + strings.ReplaceAll(table, "`", "``") + "`"))
}
