package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/diag"
	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/cmd/sluice/internal/repl"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/planner"
)

// backslash is a command of the shell that is no SQL.
type backslash struct {
	name, args, help string
	run              func(s *shell, arg string) error
}

// backslashes are the commands, in the order in which \? shows them.
func backslashes() []backslash {
	return []backslash{
		{"?", "", "list these commands", (*shell).listCommands},
		{"h", "[TOPIC]", "the same as HELP: explain a statement, function, connector, format or option", (*shell).help},
		{"d", "[NAME]", "list tables and views, or describe one", (*shell).describe},
		{"df", "[PATTERN]", "list functions, those whose name is LIKE the pattern", (*shell).listFunctions},
		{"e", "", "edit the last statement in $EDITOR, and run it if it was changed", (*shell).edit},
		{"g", "[FILE]", "run the last statement again; into a file, as its ending says: .csv, .json, .md, or a table", (*shell).again},
		{"i", "FILE", "run the statements of a file", (*shell).include},
		{"jobs", "", "the same as SHOW JOBS", (*shell).listJobs},
		{"o", "[FILE]", "write results to a file from now on; without one to the terminal again", (*shell).outputTo},
		{"output", "[LAYOUT]", "write rows as table, csv, json or markdown", (*shell).setLayout},
		{"pager", "[on|off]", "show long results through $PAGER, or don't", (*shell).setPager},
		{"q", "", "end the shell; its jobs are stopped in order", (*shell).end},
		{"timing", "[on|off]", "show how long statements take, or don't", (*shell).setTiming},
		{"wait", "[JOB]", "wait until a job has ended, or all have", (*shell).wait},
		{"watch", "[SECONDS]", "run the last statement again and again, until Ctrl-C", (*shell).repeat},
		{"x", "[on|off]", "show a line for each column, or don't", (*shell).setExpanded},
	}
}

// command runs a backslash command, HELP or QUIT.
func (s *shell) command(text string) error {
	text = strings.TrimSpace(strings.TrimSuffix(text, ";"))
	name, arg, _ := strings.Cut(text, " ")
	arg = strings.TrimSpace(arg)
	switch strings.ToUpper(name) {
	case "HELP":
		return s.help(arg)
	case "QUIT", "EXIT":
		return s.end("")
	}
	name = strings.TrimPrefix(name, `\`)
	var names []string
	for _, c := range backslashes() {
		if c.name == name {
			if c.args == "" && arg != "" {
				return wrong(fmt.Errorf(`\%s %s: the command \%s stands alone`, name, arg, name))
			}
			if strings.Contains(c.args, "FILE") {
				arg = repl.FileName(arg)
			}
			return c.run(s, arg)
		}
		names = append(names, c.name)
	}
	if known := near.Name(name, names); known != "" {
		return wrong(fmt.Errorf(`unknown command \%s; did you mean \%s? \? lists the commands`, name, known))
	}
	return wrong(fmt.Errorf(`unknown command \%s; \? lists the commands`, name))
}

func (s *shell) listCommands(string) error {
	var b strings.Builder
	for _, c := range backslashes() {
		fmt.Fprintf(&b, "  %-20s %s\n", strings.TrimSpace(`\`+c.name+" "+c.args), c.help)
	}
	b.WriteString("  " + `HELP [TOPIC]         statements end with ";", and are run when Enter is pressed behind it` + "\n")
	return s.emit([]byte(b.String()))
}

func (s *shell) help(topic string) error {
	text, err := repl.Help(topic, s.registry, planner.SessionOptions())
	if err != nil {
		return wrong(err)
	}
	return s.emit([]byte(text))
}

// commandSQL is the name of the texts that commands stand for.
const commandSQL = "command"

// sql runs a statement that a command stands for.
func (s *shell) sql(text string) error {
	last := s.last
	err := s.runText(commandSQL, text)
	s.last = last
	return err
}

func (s *shell) describe(name string) error {
	if name == "" {
		return s.sql("SHOW TABLES;")
	}
	return s.sql("DESCRIBE " + name + ";")
}

func (s *shell) listFunctions(pattern string) error {
	if pattern == "" {
		return s.sql("SHOW FUNCTIONS;")
	}
	return s.sql("SHOW FUNCTIONS LIKE '" + strings.ReplaceAll(strings.ToUpper(pattern), "'", "''") + "';")
}

func (s *shell) listJobs(string) error { return s.jobs.show() }

func (s *shell) end(string) error {
	s.quit = true
	return nil
}

func (s *shell) include(file string) error {
	if file == "" {
		return wrong(fmt.Errorf(`\i wants a file`))
	}
	return s.runFile(file)
}

// lastStatement is the text of the last statement; there has to be one.
func (s *shell) lastStatement(command string) (string, error) {
	if s.last == "" {
		return "", wrong(fmt.Errorf(`\%s: no statement was run yet`, command))
	}
	return s.last, nil
}

func (s *shell) edit(string) error {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	f, err := os.CreateTemp("", "sluice-*.sql")
	if err != nil {
		return wrong(err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(s.last + "\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return wrong(err)
	}
	fields := strings.Fields(editor)
	cmd := exec.Command(fields[0], append(fields[1:], f.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := s.held.during(func() error { return s.front.program(cmd) }); err != nil {
		return wrong(fault.Errorf(fault.CommandLine, "the editor %s: %w", editor, err).
			Fix("EDITOR names another"))
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		return wrong(err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" || text == s.last {
		fmt.Fprintln(s.notes, "nothing was changed, and nothing is run")
		return nil
	}
	fmt.Fprintln(s.notes, diag.MaskTyped(text))
	if s.history != nil {
		if _, err := s.history.Write(text); err != nil {
			s.complain(err)
		}
	}
	return s.runText(s.nextInput(), text)
}

func (s *shell) again(file string) error {
	text, err := s.lastStatement("g")
	if err != nil {
		return err
	}
	if file == "" {
		return s.runText(s.nextInput(), text)
	}
	f, err := os.Create(file)
	if err != nil {
		return wrong(err)
	}
	was, layout := s.file, s.layout
	s.file, s.layout = f, repl.LayoutOf(file)
	err = s.runText(s.nextInput(), text)
	s.file, s.layout = was, layout
	if cerr := f.Close(); err == nil && cerr != nil {
		err = &failure{exitFailed, cerr}
	}
	return err
}

func (s *shell) outputTo(file string) error {
	if s.file != nil {
		err := s.file.Close()
		s.file = nil
		if err != nil {
			return &failure{exitFailed, err}
		}
	}
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return wrong(err)
	}
	s.file = f
	return nil
}

func (s *shell) setLayout(name string) error {
	if name == "" {
		fmt.Fprintf(s.notes, "rows are written as %s\n", s.layout)
		return nil
	}
	name, err := choose(`\output`, name, display.Layouts)
	if err != nil {
		return err
	}
	s.layout = display.LayoutNamed(name)
	return nil
}

// toggle sets a switch to on or off, or to the other when nothing is said.
func (s *shell) toggle(command, arg string, value *bool, what string) error {
	switch strings.ToLower(arg) {
	case "":
		*value = !*value
	case "on":
		*value = true
	case "off":
		*value = false
	default:
		return wrong(fmt.Errorf(`\%s %s: on or off`, command, arg))
	}
	state := "off"
	if *value {
		state = "on"
	}
	fmt.Fprintf(s.notes, "%s is %s\n", what, state)
	return nil
}

func (s *shell) setPager(arg string) error  { return s.toggle("pager", arg, &s.pager, "the pager") }
func (s *shell) setTiming(arg string) error { return s.toggle("timing", arg, &s.timing, "timing") }

func (s *shell) setExpanded(arg string) error {
	expanded := s.layout == display.Expanded
	if err := s.toggle("x", arg, &expanded, "a line for each column"); err != nil {
		return err
	}
	switch {
	case expanded:
		s.layout = display.Expanded
	case s.layout == display.Expanded:
		s.layout = display.Aligned
	}
	return nil
}

func (s *shell) wait(id string) error {
	if id == "" {
		return s.waited(s.jobs.waitAll())
	}
	b := s.jobs.find(id)
	if b == nil {
		return wrong(fmt.Errorf(`\wait %s: this shell has started no such job; SHOW JOBS lists them`, id))
	}
	return s.jobs.wait(b)
}

// repeat runs the last statement until it is interrupted.
func (s *shell) repeat(arg string) error {
	text, err := s.lastStatement("watch")
	if err != nil {
		return err
	}
	every := 2 * time.Second
	if arg != "" {
		n, err := strconv.ParseFloat(arg, 64)
		if err != nil || n < 0.1 || n > 86400 {
			return wrong(fmt.Errorf(`\watch %s: write the number of seconds between two runs, 0.1 to 86400`, arg))
		}
		every = time.Duration(n * float64(time.Second))
	}
	pager := s.pager
	s.pager = false
	defer func() { s.pager = pager }()
	for {
		fmt.Fprintf(s.notes, "%s (every %s)\n", time.Now().Format(time.DateTime), every)
		s.front.forget() // not every statement has something to interrupt
		if err := s.runText(s.nextInput(), text); err != nil || s.quit {
			return err
		}
		if s.front.interrupted() {
			return nil
		}
		over := make(chan struct{})
		stop := sync.OnceFunc(func() { close(over) })
		s.front.begin(stop, stop)
		select {
		case <-over:
			s.front.end()
			return nil
		case <-time.After(every):
			s.front.end()
		}
	}
}
