package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicesql/sluice/internal/embed"
	"github.com/sluicesql/sluice/internal/fault"
)

// faultExamples is the folder of the examples of codes of run-time faults, a script each; its first comment says what to do.
const faultExamples = "testdata/faults"

// errorLine is the first line of an error, which ends with its code; warnings and what is told of progress are none.
var (
	errorLine = regexp.MustCompile(`^(sluice|((input|-e) )?\S+:\d+:\d+): `)
	telling   = regexp.MustCompile(`^sluice: (warning: |(done|stopped|failed) (in|after) )`)
	coded     = regexp.MustCompile(` \[([a-z-]+)\]:?$`)
)

// uncoded are the errors of a standard error that have no code, or one that is not listed.
func uncoded(stderr string) []string {
	var out []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSuffix(line, "\n")
		if !errorLine.MatchString(line) || telling.MatchString(line) {
			continue
		}
		if m := coded.FindStringSubmatch(line); m == nil || !listed(fault.Code(m[1])) {
			out = append(out, line)
		}
	}
	return out
}

// faultsPage are the parts of docs/errors.md on all but SQL: for each code its sentence, what to do, and an example.
func faultsPage(t *testing.T) string {
	var b strings.Builder
	known := map[string]bool{}
	for _, part := range fault.Parts() {
		fmt.Fprintf(&b, "\n## %s\n", part.Title)
		for _, d := range part.Codes {
			fmt.Fprintf(&b, "\n### %s\n\n%s", d.Code, d.Sentence)
			if d.Code == fault.Internal { // nobody knows how to make one
				b.WriteString(" Please report it with the whole text.\n")
				continue
			}
			known[string(d.Code)] = true
			t.Run(string(d.Code), func(t *testing.T) { b.WriteString(faultExample(t, d.Code)) })
		}
	}
	files, err := os.ReadDir(faultExamples)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s/%s is the example of no code", faultExamples, f.Name())
		}
	}
	return b.String()
}

// faultExample runs the example of a code. The last run must show it.
func faultExample(t *testing.T, c fault.Code) string {
	path := filepath.Join(faultExamples, string(c))
	text := string(read(t, path))
	var b strings.Builder
	for line := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		b.WriteString(" " + strings.TrimSpace(comment))
	}
	b.WriteString("\n")
	s := newScript(t)
	last := ""
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		out := s.step(t, d)
		switch d.Cmd {
		case "file":
			kind := map[string]string{".sql": "sql piece", ".jsonl": "json"}[filepath.Ext(d.CmdArgs[0].Key)]
			if kind == "" {
				kind = "text"
			}
			if d.Input != "" {
				fmt.Fprintf(&b, "\n`%s`:\n\n```%s\n%s\n```\n", d.CmdArgs[0].Key, kind, d.Input)
			}
		case "broker":
			if f := brokerWords(d.CmdArgs); f != "" {
				fmt.Fprintf(&b, "\nWith %s:\n", f)
			}
		case "hold":
			fmt.Fprintf(&b, "\nWhile another process runs on `%s`:\n", d.CmdArgs[0].Key)
		case "kill":
			fmt.Fprintf(&b, "\n```text\n$ %s\n%sKilled\n```\n", d.Input, out)
		case "run":
			last = out
			shown := strings.ReplaceAll(strings.TrimSuffix(out, "\n"), "! ", "")
			fmt.Fprintf(&b, "\n```text\n$ %s\n%s\n```\n", d.Input, shown)
		}
		return out
	})
	if !strings.Contains(last, "["+string(c)+"]") {
		t.Errorf("%s does not show the code:\n%s", path, last)
	}
	return b.String()
}

// brokerWords says what a broker of startTroubled is like.
func brokerWords(args []datadriven.CmdArg) string {
	if len(args) == 0 {
		return ""
	}
	switch kind := args[0].Key; kind {
	case "tls":
		return "a broker whose certificate is of an authority of its own"
	case "sasl":
		return "a broker that wants a login"
	case "damaged":
		return "a broker whose disk has changed a byte"
	default:
		return fmt.Sprintf("a broker that answers %s with %s", kind, strings.Join(args[0].Vals, ""))
	}
}

// startTroubled starts a broker that holds records, and returns its address. Its fault may be tls (a certificate of an
// unknown authority), sasl (a login is wanted), damaged (the word "damaged" in a record is altered on its way) or
// REQUEST=ERROR, which it then answers all requests of that kind with.
func startTroubled(t *testing.T, trouble, records string) string {
	t.Helper()
	var opts []kfake.Opt
	switch trouble {
	case "tls":
		pair := httptest.NewUnstartedServer(nil)
		pair.StartTLS()
		t.Cleanup(pair.Close)
		opts = append(opts, kfake.TLS(&tls.Config{Certificates: pair.TLS.Certificates}))
	case "sasl":
		opts = append(opts, kfake.EnableSASL(), kfake.Superuser("PLAIN", "sluice", "right"))
	case "damaged":
		opts = append(opts, kfake.ListenFn(func(network, address string) (net.Listener, error) {
			l, err := net.Listen(network, address)
			return damagingListener{l}, err
		}))
	}
	b, err := embed.StartWith(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if strings.TrimSpace(records) != "" {
		rs, err := embed.Parse("records", strings.NewReader(records))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Produce(t.Context(), rs...); err != nil {
			t.Fatal(err)
		}
	}
	if request, answer, ok := strings.Cut(trouble, "="); ok {
		f := kfake.Fault{Err: errorNamed(t, answer), Count: -1}
		for key := kmsg.Key(0); key < 100; key++ {
			if key.Name() == request {
				f.Keys = append(f.Keys, key)
			}
		}
		b.Cluster().Fault(f)
	}
	return b.Addr()
}

func errorNamed(t *testing.T, name string) *kerr.Error {
	for code := int16(1); code < 200; code++ {
		if e := kerr.TypedErrorForCode(code); e != nil && e.Message == name {
			return e
		}
	}
	t.Fatalf("no error is called %s", name)
	return nil
}

type damagingListener struct{ net.Listener }

func (l damagingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return damagingConn{c}, err
}

type damagingConn struct{ net.Conn }

func (c damagingConn) Write(p []byte) (int, error) {
	return c.Conn.Write(bytes.ReplaceAll(p, []byte("damaged"), []byte("dAmaged")))
}
