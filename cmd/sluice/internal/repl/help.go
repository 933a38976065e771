package repl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
)

// topics are what HELP can be asked for beside options.
func topics(r *spi.Registry) []string {
	var t []string
	for _, s := range statements {
		t = append(t, s.Name)
	}
	t = append(t, r.Connectors()...)
	t = append(t, r.Formats()...)
	for _, f := range functions() {
		t = append(t, f.Text)
	}
	return t
}

// Help is the text about a topic: a statement, function, connector, format or option; an empty one lists them.
func Help(topic string, r *spi.Registry, session []spi.Option) (string, error) {
	topic = strings.Trim(strings.Join(strings.Fields(topic), " "), "'`\"; ")
	var b strings.Builder
	if topic == "" {
		b.WriteString("HELP NAME explains a statement, a function, a connector, a format or an option. The statements:\n\n")
		for _, s := range statements {
			fmt.Fprintf(&b, "  %-14s %s\n", s.Name, s.What)
		}
		fmt.Fprintf(&b, "\nConnectors: %s. Formats: %s.\nSHOW FUNCTIONS lists the functions, SET the session options, \\? the commands of this shell.\n",
			strings.Join(r.Connectors(), ", "), strings.Join(r.Formats(), ", "))
		return b.String(), nil
	}
	for _, s := range statements {
		if strings.EqualFold(s.Name, topic) || strings.EqualFold(strings.Fields(s.Name)[0], topic) {
			fmt.Fprintf(&b, "%s: %s\n\n%s\n", s.Name, s.What, indent(s.Syntax))
			if s.Example != "" {
				fmt.Fprintf(&b, "\nFor example:\n\n%s\n", indent(s.Example))
			}
			b.WriteByte('\n')
		}
	}
	if b.Len() > 0 {
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	if helpFunction(&b, topic) || helpConnector(&b, topic, r) || helpOption(&b, topic, r, session) {
		return b.String(), nil
	}
	if known := near.Name(strings.ToUpper(topic), topics(r)); known != "" {
		return "", fault.Errorf(fault.CommandLine, "there is no help about %q", topic).
			Fix("did you mean %s?", known)
	}
	return "", fault.Errorf(fault.CommandLine, "there is no help about %q", topic).
		Fix("HELP lists what there is")
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

func helpFunction(b *strings.Builder, topic string) bool {
	is := func(name string, aliases []string) bool {
		return strings.EqualFold(name, topic) || slices.ContainsFunc(aliases, func(a string) bool { return strings.EqualFold(a, topic) })
	}
	for _, f := range expr.Functions() {
		if is(f.Name, f.Aliases) {
			fmt.Fprintf(b, "%s\n  %s\n", f.Signature, f.Help)
			for _, e := range f.Examples {
				fmt.Fprintf(b, "  %s is %s\n", e.Show(f), e.Want)
			}
		}
	}
	for _, f := range expr.Aggregates() {
		if is(f.Name, f.Aliases) {
			fmt.Fprintf(b, "%s\n  %s\n", f.Signature, f.Help)
		}
	}
	for _, f := range expr.WindowFunctions() {
		if is(f.Name, nil) {
			fmt.Fprintf(b, "%s\n  %s\n", f.Signature, f.Help)
		}
	}
	return b.Len() > 0
}

func helpConnector(b *strings.Builder, topic string, r *spi.Registry) bool {
	if c := r.Connector(strings.ToLower(topic)); c != nil {
		fmt.Fprintf(b, "Connector %s: %s\n\n", c.Name(), c.Help())
		for _, o := range c.Options() {
			writeOption(b, "", o)
		}
	}
	if f := r.Format(strings.ToLower(topic)); f != nil {
		fmt.Fprintf(b, "Format %s: %s\n\n", f.Name(), f.Help())
		for _, o := range f.Options() {
			writeOption(b, f.Name()+".", o)
		}
	}
	return b.Len() > 0
}

func helpOption(b *strings.Builder, topic string, r *spi.Registry, session []spi.Option) bool {
	look := func(where, prefix string, options []spi.Option) {
		for _, o := range options {
			if strings.EqualFold(prefix+o.Name, topic) {
				fmt.Fprintf(b, "An option of %s:\n", where)
				writeOption(b, prefix, o)
			}
		}
	}
	look("the session", "", session)
	for _, n := range r.Connectors() {
		look("the connector "+n, "", r.Connector(n).Options())
	}
	for _, n := range r.Formats() {
		look("the format "+n, n+".", r.Format(n).Options())
	}
	return b.Len() > 0
}

func writeOption(b *strings.Builder, prefix string, o spi.Option) {
	fmt.Fprintf(b, "  '%s%s'", prefix, o.Name)
	switch {
	case o.Unsupported != "":
		fmt.Fprintf(b, "\n      refused: %s\n", o.Unsupported)
		return
	case o.Required:
		b.WriteString(" (required)")
	case o.Default != "":
		fmt.Fprintf(b, " = '%s'", o.Default)
	}
	fmt.Fprintf(b, "\n      %s\n", o.Help)
	if len(o.Values) > 0 {
		fmt.Fprintf(b, "      one of %s\n", strings.Join(o.Values, ", "))
	}
}

// functions are all functions with a name that can be called, for completion and HELP.
func functions() []Candidate {
	var out []Candidate
	add := func(help string, names ...string) {
		for _, n := range names {
			if n != "" && (n[0] >= 'A' && n[0] <= 'Z') && !strings.Contains(n, " ") {
				out = append(out, Candidate{Text: n, Help: help, Group: "function"})
			}
		}
	}
	for _, f := range expr.Functions() {
		add(f.Help, append([]string{f.Name}, f.Aliases...)...)
	}
	for _, f := range expr.Aggregates() {
		add(f.Help, append([]string{f.Name}, f.Aliases...)...)
	}
	for _, f := range expr.WindowFunctions() {
		add(f.Help, f.Name)
	}
	return out
}
