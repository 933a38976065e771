package repl

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/reeflective/readline"

	"github.com/sluicesql/sluice/sql/parser"
)

// ErrInterrupt is what ReadStatement returns when Ctrl-C was pressed.
var ErrInterrupt = errors.New("interrupt")

// Editor reads statements from the terminal.
type Editor struct {
	shell *readline.Shell
}

const (
	prompt       = "sluice> "
	secondPrompt = "     -> "
)

// NewEditor returns an editor. A nil highlighter leaves colours out.
func NewEditor(h *History, c *Completer, highlight *Highlighter) *Editor {
	sh := readline.NewShell()
	e := &Editor{sh}
	sh.History.Add("history", h)
	shown := prompt
	if highlight != nil {
		shown = "\x1b[1m" + prompt + plain
		sh.SyntaxHighlighter = func(line []rune) string { return highlight.highlight(string(line)) }
	}
	sh.Prompt.Primary(func() string { return shown })
	sh.Prompt.Secondary(func() string { return secondPrompt })
	sh.AcceptMultiline = func(line []rune) bool { return finished(string(line)) }
	sh.Completer = func(line []rune, cursor int) readline.Completions {
		return candidates(c, string(line[:cursor]))
	}
	for name, value := range map[string]any{
		"completion-ignore-case": true,
		// What stands before the second and further lines of a statement.
		"multiline-column-custom": secondPrompt,
		// Keys that arrive in one piece with the terminal's answer would be lost.
		"cursor-position-probe": false,
		// Nothing waits for a key that might follow: bells are no use.
		"bell-style": "none",
	} {
		_ = sh.Config.Set(name, value) // fails for types alone
	}
	return e
}

// finished reports whether an input can be run: a backslash command or HELP ends with its line, a statement with a
// semicolon, and nothing but blanks is nothing.
func finished(text string) bool {
	return IsCommand(text) || parser.Complete(text)
}

// IsCommand reports whether an input is a backslash command, or one of the words that need no semicolon.
func IsCommand(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, `\`) {
		return true
	}
	word, _, _ := strings.Cut(strings.TrimSuffix(text, ";"), " ")
	switch strings.ToUpper(word) {
	case "HELP", "QUIT", "EXIT":
		return !strings.Contains(text, "\n")
	}
	return false
}

// ReadStatement shows the prompt and returns what was typed: one or more whole statements, or a command. The error is
// ErrInterrupt after Ctrl-C, and io.EOF after Ctrl-D on an empty line or when the terminal is gone.
func (e *Editor) ReadStatement() (string, error) {
	text, err := e.shell.Readline()
	switch {
	case errors.Is(err, readline.ErrInterrupt):
		return "", ErrInterrupt
	case err != nil:
		return "", io.EOF
	}
	return text, nil
}

// candidates hands the completions to the line editor, which replaces a prefix of its own choice, a word between
// blanks, unless it is told one that is not empty.
func candidates(c *Completer, text string) readline.Completions {
	word, found := c.complete(text)
	lead := ""
	if word == 0 {
		if last, size := utf8.DecodeLastRuneInString(text); size > 0 && last != ' ' && last != '\n' && last != '\t' {
			lead = text[len(text)-size:]
		}
	}
	prefix := lead + text[len(text)-word:]
	if len(prefix) != utf8.RuneCountInString(prefix) {
		return readline.Completions{} // the editor counts bytes where it should count characters
	}
	values := make([]readline.Completion, len(found))
	for i, f := range found {
		values[i] = readline.Completion{Value: lead + f.Text, Display: f.Text, Description: firstSentence(f.Help), Tag: f.Group}
	}
	comps := readline.CompleteRaw(values)
	comps.PREFIX = prefix
	return comps
}

// firstSentence keeps descriptions to a line.
func firstSentence(s string) string {
	for _, end := range []string{". ", "; ", ": "} {
		if i := strings.Index(s, end); i > 0 {
			s = s[:i]
		}
	}
	return s
}
