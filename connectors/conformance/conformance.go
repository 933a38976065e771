// Package conformance is what every connector's tests run: the promises of package spi, held against an
// open source or sink.
package conformance

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
)

var optionName = regexp.MustCompile(`^[a-z0-9]+([.-]([a-z0-9]+|#))*(\.\*)?$`)

// Options checks a connector's declarations: well-formed and unique names, a help line each, values for
// enumerations, and defaults that are values.
func Options(t *testing.T, c spi.Connector) {
	t.Helper()
	if c.Name() == "" || c.Help() == "" {
		t.Errorf("connector %q has no name or no help", c.Name())
	}
	seen := map[string]bool{}
	for _, o := range c.Options() {
		if seen[o.Name] {
			t.Errorf("option %q is declared twice", o.Name)
		}
		seen[o.Name] = true
		if !optionName.MatchString(o.Name) {
			t.Errorf("option %q is not a well-formed name", o.Name)
		}
		if (o.Help == "") == (o.Unsupported == "") {
			t.Errorf("option %q wants either a help or a reason why it is refused", o.Name)
		}
		if (o.Kind == spi.EnumOption) != (len(o.Values) > 0) {
			t.Errorf("option %q: values belong to enumerations, and only to them", o.Name)
		}
		if o.Required && o.Default != "" {
			t.Errorf("option %q is required and has a default", o.Name)
		}
		checkDefault(t, o)
	}
	for _, m := range c.Metadata() {
		if m.Metadata == "" || m.Type.Kind == 0 {
			t.Errorf("metadata %+v has no key or no type", m)
		}
	}
}

func checkDefault(t *testing.T, o spi.Option) {
	t.Helper()
	if o.Default == "" {
		return
	}
	set := spi.Options{o.Name: o.Default}
	var err error
	switch o.Kind {
	case spi.IntOption:
		_, err = set.Int(o.Name, 0)
	case spi.BoolOption:
		_, err = set.Bool(o.Name, false)
	case spi.DurationOption:
		_, err = set.Duration(o.Name, 0)
	case spi.EnumOption:
		_, err = set.Enum(o.Name, "", o.Values...)
	}
	if err != nil {
		t.Errorf("the default of option %q is no value of it: %v", o.Name, err)
	}
}

// NoLeaks runs f and fails when goroutines that it started are there afterwards.
func NoLeaks(t *testing.T, f func()) {
	t.Helper()
	before := stacks()
	f()
	var left []string
	for range 100 {
		left = left[:0]
		for id, s := range stacks() {
			if _, old := before[id]; !old && !strings.Contains(s, "testing.(*T)") {
				left = append(left, s)
			}
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left after Close:\n%s", len(left), strings.Join(left, "\n\n"))
}

// stacks are the goroutines of the process, by their number.
func stacks() map[string]string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	out := map[string]string{}
	for _, s := range strings.Split(string(buf), "\n\n") {
		id, _, _ := strings.Cut(s, " [")
		out[id] = s
	}
	return out
}
