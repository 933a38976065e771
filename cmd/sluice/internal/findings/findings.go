// Package findings writes what sluice check finds, for people and for programs.
package findings

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sluicesql/sluice/cmd/sluice/internal/diag"
	"github.com/sluicesql/sluice/sql/ast"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one mistake or lint. Its place is that in the file as the user wrote it; a finding without a line concerns
// the file as a whole.
type Finding struct {
	Severity Severity
	*ast.Error
}

// Formats are the names of the formats, in the order in which help shows them.
func Formats() []string { return []string{"text", "json", "github", "sarif"} }

// Write writes list in a format. p is for the format text.
func Write(out io.Writer, format string, list []Finding, p *diag.Printer) error {
	switch format {
	case "json":
		return writeJSON(out, list)
	case "github":
		return writeGitHub(out, list)
	case "sarif":
		return writeSARIF(out, list)
	}
	return writeText(list, p)
}

func writeText(list []Finding, p *diag.Printer) error {
	for _, f := range list {
		if f.Severity == Warning {
			p.Warn(f.Error)
		} else {
			p.Print(f.Error)
		}
	}
	return nil
}

// finding is the form of a finding in JSON.
type finding struct {
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Severity Severity `json:"severity"`
	Code     ast.Code `json:"code,omitempty"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
}

// writeJSON writes an array, a finding a line.
func writeJSON(out io.Writer, list []Finding) error {
	var b strings.Builder
	b.WriteByte('[')
	for i, f := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		one, err := json.Marshal(finding{f.Pos.File, f.Pos.Line, f.Pos.Col, f.Severity, f.Code, f.Msg, f.Hint})
		if err != nil {
			return err
		}
		b.WriteString("\n  ")
		b.Write(one)
	}
	if len(list) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// writeGitHub writes workflow commands, which GitHub shows beside the lines of a change.
func writeGitHub(out io.Writer, list []Finding) error {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "::%s file=%s", f.Severity, property.Replace(f.Pos.File))
		if f.Pos.IsValid() {
			fmt.Fprintf(&b, ",line=%d,col=%d", f.Pos.Line, f.Pos.Col)
		}
		if f.Code != "" {
			fmt.Fprintf(&b, ",title=%s", property.Replace(string(f.Code)))
		}
		fmt.Fprintf(&b, "::%s\n", message.Replace(f.text()))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// text is the message with its remedy.
func (f Finding) text() string {
	if f.Hint == "" {
		return f.Msg
	}
	return f.Msg + "; " + f.Hint
}
