package repl

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/cmd/sluice/internal/progress"
	"github.com/sluicesql/sluice/cmd/sluice/internal/result"
	"github.com/sluicesql/sluice/runtime"
)

// LiveOptions say what View shows, and how the job behind it is ended.
type LiveOptions struct {
	// Title is the query, on one line.
	Title  string
	Result *result.Live
	Stats  func() runtime.Stats
	// Status is a line about the job.
	Status func() string
	// Stop ends the job in order, Kill at once; Wait returns when it has ended.
	Stop, Kill func()
	Wait       func() error
	In, Out    *os.File
	// Color turns on colours.
	Color bool
}

// View shows a result that goes on changing on the whole terminal, until its job has ended, which q or Ctrl-C ask for.
// It returns the job's error.
func View(o LiveOptions) error {
	m := &viewer{o: o, sort: -1, width: 80, height: 24, interval: refreshInterval}
	// The shell watches the signals.
	p := tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler())
	ended := make(chan error, 1)
	go func() {
		err := o.Wait()
		ended <- err
		p.Send(jobEnded{})
	}()
	_, err := p.Run()
	if err != nil {
		o.Stop() // the terminal is gone
	}
	return errors.Join(err, <-ended)
}

// jobEnded tells the viewer that the job has ended.
type jobEnded struct{}

// refresh is the time to look at the result anew.
type refresh struct{}

// pane is what the viewer shows.
type pane uint8

const (
	tablePane pane = iota
	changelogPane
	ratesPane
	panes // their number
)

var paneNames = [panes]string{"table", "changelog", "rates"}

const (
	refreshInterval = 100 * time.Millisecond
	// sampleInterval is the time between two samples of the rates, of which the last keptSamples are kept.
	sampleInterval = 500 * time.Millisecond
	keptSamples    = 600
)

// sample is how many records and changes there were in a second.
type sample struct{ in, out float64 }

// viewer is the state of a View. Its methods are called by one goroutine.
type viewer struct {
	o             LiveOptions
	width, height int
	pane          pane

	snapshot   *result.Snapshot
	version    uint64 // of the result that snapshot shows
	interval   time.Duration
	frozen     bool     // snapshot and rates stay what they are
	rates      []sample // that are shown
	sort       int      // the column to sort by, −1 for none
	descending bool
	top, left  int // the first row and the first character shown; of the changelog, the rows below the last shown
	stopping   bool
	note       string // what came of an export, until the next key
	file       string // being typed, for an export
	typing     bool

	samples []sample // of the rates, also while others are shown
	last    runtime.Stats
	sampled time.Time
}

// Init implements tea.Model.
func (v *viewer) Init() tea.Cmd { return v.later() }

func (v *viewer) later() tea.Cmd {
	return tea.Tick(v.interval, func(time.Time) tea.Msg { return refresh{} })
}

// Update implements tea.Model.
func (v *viewer) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case jobEnded:
		return v, tea.Quit
	case refresh:
		start := time.Now()
		v.sampleRates()
		if !v.frozen {
			v.look()
		}
		// A result of millions of rows takes long to sort: do it for a tenth of the time at most.
		v.interval = max(refreshInterval, 9*time.Since(start))
		return v, v.later()
	case tea.WindowSizeMsg:
		v.width, v.height = msg.Width, msg.Height
	case tea.PasteMsg:
		if v.typing {
			v.file += strings.TrimSpace(msg.Content)
		}
	case tea.KeyPressMsg:
		v.note = ""
		if v.typing {
			v.typed(msg)
			return v, nil
		}
		v.key(msg.String())
	}
	return v, nil
}

// look shows what the result is now.
func (v *viewer) look() {
	v.rates = v.samples
	version := v.o.Result.Version()
	if version == v.version && v.snapshot != nil {
		return
	}
	v.version = version
	v.snapshot = v.o.Result.Snapshot(v.sort, v.descending)
}

// sorted sorts what is shown, also when it is frozen.
func (v *viewer) sorted() {
	v.snapshotNeeded()
	v.snapshot.Sort(v.sort, v.descending)
}

func (v *viewer) sampleRates() {
	now := time.Now()
	dt := now.Sub(v.sampled)
	if dt < sampleInterval {
		return
	}
	s := v.o.Stats()
	if !v.sampled.IsZero() {
		v.samples = append(v.samples, sample{
			in:  float64(progress.Total(s).Records-progress.Total(v.last).Records) / dt.Seconds(),
			out: float64(s.RowsOut-v.last.RowsOut) / dt.Seconds(),
		})
		if len(v.samples) > keptSamples {
			v.samples = v.samples[1:] // what is shown of it may be frozen
		}
	}
	v.last, v.sampled = s, now
}

func (v *viewer) key(key string) {
	page := max(v.room()-1, 1)
	switch key {
	case "q", "ctrl+c", "esc":
		if v.stopping {
			v.o.Kill()
		} else {
			v.stopping = true
			v.o.Stop()
		}
	case "tab":
		v.pane, v.top = (v.pane+1)%panes, 0
	case "t":
		v.pane, v.top = tablePane, 0
	case "c":
		v.pane, v.top = changelogPane, 0
	case "r":
		v.pane, v.top = ratesPane, 0
	case "space", " ", "f":
		v.frozen = !v.frozen
		if !v.frozen {
			v.look()
		}
	case "s":
		if v.sort++; v.sort >= len(v.o.Result.Columns()) {
			v.sort = -1
		}
		v.sorted()
	case "S", "shift+s":
		v.descending = !v.descending
		v.sorted()
	case "e":
		v.typing, v.file = true, ""
	case "up", "k":
		v.scroll(-1)
	case "down", "j":
		v.scroll(1)
	case "pgup", "b":
		v.scroll(-page)
	case "pgdown", "d":
		v.scroll(page)
	case "home", "g":
		v.scroll(-farthest)
		v.left = 0
	case "end", "G", "shift+g":
		v.scroll(farthest)
	case "left", "h":
		v.left = max(v.left-8, 0)
	case "right", "l":
		v.left += 8
	}
}

// farthest is more lines than there are.
const farthest = 1 << 40

// scroll moves down by n lines. The changelog counts from its end, where the newest changes are.
func (v *viewer) scroll(n int) {
	if v.pane == changelogPane {
		n = -n
	}
	v.top += n
}

// typed takes a key of the name of the file to write to.
func (v *viewer) typed(msg tea.KeyPressMsg) {
	switch key := msg.String(); key {
	case "enter":
		v.typing = false
		if v.file != "" {
			v.note = v.export(v.file)
		}
	case "esc", "ctrl+c":
		v.typing = false
	case "backspace":
		if r := []rune(v.file); len(r) > 0 {
			v.file = string(r[:len(r)-1])
		}
	default:
		v.file += msg.Text
	}
}

// export writes the rows that are shown to a file, and says what came of it.
func (v *viewer) export(file string) string {
	v.snapshotNeeded()
	f, err := os.Create(file)
	if err != nil {
		return err.Error()
	}
	err = v.snapshot.Export(f, LayoutOf(file))
	if err := errors.Join(err, f.Close()); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s rows are in %s", display.Count(int64(v.snapshot.Len())), file)
}

// LayoutOf is the layout that the ending of a file's name asks for.
func LayoutOf(file string) display.Layout {
	switch name := strings.ToLower(file); {
	case strings.HasSuffix(name, ".csv"):
		return display.CSV
	case strings.HasSuffix(name, ".json"), strings.HasSuffix(name, ".jsonl"):
		return display.JSON
	case strings.HasSuffix(name, ".md"):
		return display.Markdown
	}
	return display.Aligned
}

func (v *viewer) snapshotNeeded() {
	if v.snapshot == nil {
		v.look()
	}
}

// room is the number of lines for rows: the title, the three lines of a table's head, and the two at the bottom are
// taken.
func (v *viewer) room() int { return max(v.height-6, 1) }

// View implements tea.Model.
func (v *viewer) View() tea.View {
	var lines []string
	state := paneNames[v.pane]
	if v.sort >= 0 && v.pane == tablePane {
		if cols := v.o.Result.Columns(); v.sort < len(cols) {
			state += " by " + display.Clean(cols[v.sort].Name)
			if v.descending {
				state += ", descending"
			}
		}
	}
	if v.frozen {
		state += " · frozen"
	}
	if v.stopping {
		state += " · stopping; again to end it at once"
	}
	lines = append(lines, v.paint("\x1b[1m", display.Cut("["+state+"] "+display.Clean(v.o.Title), v.width)))
	switch v.pane {
	case tablePane:
		lines = append(lines, v.tableLines()...)
	case changelogPane:
		lines = append(lines, v.changeLines()...)
	case ratesPane:
		lines = append(lines, v.rateLines()...)
	}
	for len(lines) < v.height-2 {
		lines = append(lines, "")
	}
	lines = lines[:max(v.height-2, 0)]
	bottom := "↑↓ PgUp PgDn scroll · s S sort · space freeze · Tab table/changelog/rates · e export · q ends"
	switch {
	case v.typing:
		bottom = "write the rows to (.csv, .json, .md): " + v.file + "▏"
	case v.note != "":
		bottom = v.note
	}
	lines = append(lines, display.Cut(v.o.Status(), v.width), v.paint("\x1b[2m", display.Cut(bottom, v.width)))
	view := tea.NewView(strings.Join(lines, "\n"))
	view.AltScreen = true
	return view
}

func (v *viewer) paint(colour, s string) string {
	if !v.o.Color {
		return s
	}
	return colour + s + plain
}

// window is the part of a line that is seen when it is scrolled to the right.
func (v *viewer) window(line string) string {
	for n := v.left; n > 0 && line != ""; {
		r := []rune(line)
		n -= max(display.Width(string(r[:1])), 1)
		line = string(r[1:])
	}
	return display.Cut(line, v.width)
}

func (v *viewer) tableLines() []string {
	v.snapshotNeeded()
	v.top = max(min(v.top, v.snapshot.Len()-v.room()), 0)
	rows := v.snapshot.Cells(v.top, v.room())
	lines := v.sheet(v.o.Result.Columns(), rows)
	size := display.Count(int64(v.snapshot.Len())) + " rows"
	if shown := len(rows); shown < v.snapshot.Len() {
		size = fmt.Sprintf("rows %s–%s of %s", display.Count(int64(v.top+1)), display.Count(int64(v.top+shown)), display.Count(int64(v.snapshot.Len())))
	}
	lines[2] = v.over(lines[2], " "+size+" ")
	return lines
}

// over writes text over the end of a rule.
func (v *viewer) over(rule, text string) string {
	width := min(max(display.Width(rule), display.Width(text)+4), v.width)
	keep := max(width-display.Width(text)-2, 0)
	return rule[:min(keep, len(rule))] + strings.Repeat("-", max(keep-len(rule), 0)) + text + "--"
}

func (v *viewer) changeLines() []string {
	v.snapshotNeeded()
	v.top = max(min(v.top, v.snapshot.Kept()-v.room()), 0)
	rows := v.snapshot.Changes(max(v.snapshot.Kept()-v.room()-v.top, 0), v.room())
	return v.sheet(append([]display.Column{{Name: "op"}}, v.o.Result.Columns()...), rows)
}

// sheet is an aligned table of rows, without the rule at its end.
func (v *viewer) sheet(cols []display.Column, rows [][]display.Cell) []string {
	sheet := display.NewSheet(display.Aligned, cols)
	for _, r := range rows {
		sheet.Measure(r)
	}
	lines := []string{v.window(string(sheet.Rule(nil))), v.window(string(sheet.Header(nil))), v.window(string(sheet.Rule(nil)))}
	for _, r := range rows {
		lines = append(lines, v.window(string(sheet.Line(nil, r))))
	}
	return lines
}

// rateLines are two charts, of the records that came in and of the changes that went out.
func (v *viewer) rateLines() []string {
	height := max((v.height-3)/2-1, 1)
	lines := v.chart("records in", height, func(s sample) float64 { return s.in })
	return append(lines, v.chart("changes out", height, func(s sample) float64 { return s.out })...)
}

var bars = []rune(" ▁▂▃▄▅▆▇█")

// chart draws the last samples as bars, the newest at the right.
func (v *viewer) chart(name string, height int, of func(sample) float64) []string {
	samples := v.rates
	if len(samples) > v.width {
		samples = samples[len(samples)-v.width:]
	}
	top, now := 0.0, 0.0
	for _, s := range samples {
		now = of(s)
		top = max(top, now)
	}
	lines := []string{display.Cut(fmt.Sprintf("%s: %s/s, at most %s/s", name, display.Count(int64(now)), display.Count(int64(top))), v.width)}
	for line := height - 1; line >= 0; line-- {
		var b strings.Builder
		for _, s := range samples {
			level := 0.0
			if top > 0 {
				level = of(s)/top*float64(height) - float64(line)
			}
			b.WriteRune(bars[int(max(min(level, 1), 0)*8)])
		}
		lines = append(lines, b.String())
	}
	return lines
}
