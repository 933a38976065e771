package repl

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reeflective/readline"
	"github.com/reeflective/readline/inputrc"
	"golang.org/x/term"

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

// NewEditor returns an editor. A nil highlighter leaves colours out. accepted is called when Enter is pressed, while
// Ctrl-C is a key still: from then on it is a signal.
func NewEditor(h *History, c *Completer, highlight *Highlighter, accepted func()) *Editor {
	sh := readline.NewShell()
	e := &Editor{sh}
	sh.History.Add("history", h)
	shown := prompt
	if highlight != nil {
		shown = "\x1b[1m" + prompt + plain
	}
	sh.SyntaxHighlighter = func(line []rune) string {
		if highlight == nil {
			return string(line) + roomBelow
		}
		return highlight.highlight(string(line)) + roomBelow
	}
	sh.Prompt.Primary(func() string { return shown })
	sh.Prompt.Secondary(func() string { return secondPrompt })
	sh.AcceptMultiline = func(line []rune) bool {
		accepted()
		return finished(string(line))
	}
	sh.Completer = func(line []rune, cursor int) readline.Completions {
		m := candidates(c, string(line[:cursor]))
		_ = sh.Config.Set("completion-ignore-case", !m.exact)
		_ = sh.Config.Set("menu-complete-display-prefix", m.common)
		return m.comps
	}
	for name, value := range map[string]any{
		"usage-hint-always": true,
		// Something stands before the further lines of a statement: the second prompt before the last one, and a bar,
		// whatever the value here is, before the others.
		"multiline-column-custom": secondPrompt,
		// Keys that arrive in one piece with the terminal's answer would be lost.
		"cursor-position-probe": false,
		// Nothing waits for a key that might follow: bells are no use.
		"bell-style": "none",
		// What is pasted is text, whatever keys its bytes would be.
		"enable-bracketed-paste": true,
		// Letters beyond ASCII are letters.
		"convert-meta": false, "input-meta": true, "output-meta": true,
	} {
		_ = sh.Config.Set(name, value) // fails for types alone
	}
	for seq, action := range moreKeys {
		_ = sh.Config.Bind("emacs", inputrc.Unescape(seq), action, false) // fails for a keymap that there is not
	}
	abort, edit := sh.Keymap.Commands()["abort"], sh.Keymap.Commands()["edit-and-execute-command"]
	sh.Keymap.Register(map[string]func(){"self-insert": e.insert, "abort": e.abort(abort), "edit-and-execute-command": func() {
		edit()
		accepted()
	}})
	return e
}

// roomBelow stands behind the line that is typed: the screen scrolls up until two rows are free below it, of which a
// line that ends at the right edge takes one. The editor clears what is below the line, and on the last row of the
// screen it would clear the line itself.
const roomBelow = "\x1bD\x1bD\x1b[2A"

// moreKeys are the functions of keys that have none in the editor by default, or another one.
var moreKeys = map[string]string{
	// Tab completes what all candidates have in common and shows them; the next ones go through them.
	`\C-i`: "menu-complete", `\M-[Z`: "menu-complete-backward",
	`\M-[3~`: "delete-char",
	// Home and End, as the Linux console and rxvt send them.
	`\M-[1~`: "beginning-of-line", `\M-[4~`: "end-of-line",
	`\M-[7~`: "beginning-of-line", `\M-[8~`: "end-of-line",
	// The history begins where the lines of a statement end.
	`\M-[A`: "up-line-or-history", `\M-OA`: "up-line-or-history",
	`\M-[B`: "down-line-or-history", `\M-OB`: "down-line-or-history",
}

// insert puts the character that was typed into the line. The editor's own command takes the first rune of it alone,
// and moves the cursor by the columns that it takes.
func (e *Editor) insert() {
	e.shell.History.SkipSave()
	e.shell.Cursor().InsertAt(e.shell.Keys.Caller()...)
}

// abort is Ctrl-C: it leaves a menu or a search by the editor's own command, and otherwise gives up the line. The
// editor's command looks at the key that follows, where that is there already, and loses both.
func (e *Editor) abort(leave func()) func() {
	return func() {
		if e.shell.Keymap.Local() != "" {
			leave()
			return
		}
		e.shell.Iterations.Reset()
		e.shell.Selection().Reset()
		e.shell.Display.AcceptLine()
		e.shell.History.Accept(false, false, readline.ErrInterrupt)
	}
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

// menu is what the line editor is told of candidates.
type menu struct {
	comps readline.Completions
	// exact says that the editor has to compare prefixes byte for byte.
	exact bool
	// common says that the editor may write what all candidates have in common.
	common bool
}

// candidates hands the completions to the line editor, which replaces a prefix of its own choice, a word between
// blanks, unless it is told one that is not empty.
func candidates(c *Completer, text string) menu {
	word, found := c.complete(text)
	found, left := fitting(found, menuRows())
	lead := ""
	if word == 0 {
		if last, size := utf8.DecodeLastRuneInString(text); size > 0 && last != ' ' && last != '\n' && last != '\t' {
			lead = text[len(text)-size:]
		}
	}
	prefix := lead + text[len(text)-word:]
	// The editor takes as many characters for its own as what is common has bytes.
	m := menu{common: !slices.ContainsFunc(found, func(f Candidate) bool { return utf8.RuneCountInString(f.Text) < len(f.Text) })}
	if n := utf8.RuneCountInString(prefix); n < len(prefix) && len(found) > 0 {
		// The editor takes away as many characters as the prefix that it is told has bytes. It is told the first bytes
		// of what will stand there, as many as there are characters.
		m.exact, m.common = true, false
		first := found[0].Text
		if i := slices.IndexFunc(found, func(f Candidate) bool { return strings.HasPrefix(lead+f.Text, prefix) }); i >= 0 {
			first = found[i].Text
		}
		prefix = (lead + first)[:n]
	}
	values := make([]readline.Completion, len(found))
	for i, f := range found {
		values[i] = readline.Completion{Value: lead + f.Text, Display: f.Text, Description: firstSentence(f.Help), Tag: f.Group}
	}
	m.comps = readline.CompleteRaw(values)
	if left > 0 {
		m.comps = m.comps.Usage("%d more: type how they begin", left)
	}
	m.comps.PREFIX = prefix
	return m
}

// menuRows is how many candidates the screen has room for, when each has a row: the line and the names of their groups
// stay in sight.
func menuRows() int {
	_, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return max(height-8, 2)
}

// fitting returns the first candidates, as many as there is room for, and how many are left out. What those that are
// left have in common is what all have in common, since that is completed: the last one stands for those left out.
func fitting(all []Candidate, room int) (shown []Candidate, left int) {
	if len(all) <= room || room == 0 {
		return all, 0
	}
	other, least := room-1, len(all[0].Text)
	for i, c := range all[room-1:] {
		common := 0
		for common < len(c.Text) && common < least && c.Text[common] == all[0].Text[common] {
			common++
		}
		if common < least {
			other, least = room-1+i, common
		}
	}
	return append(slices.Clone(all[:room-1]), all[other]), len(all) - room
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
