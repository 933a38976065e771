package print

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/sluicesql/sluice/connectors/conformance"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func table(options spi.Options) *spi.Table {
	return &spi.Table{Name: "p", Columns: []spi.Column{{Name: "id", Type: types.Of(types.BigInt)}, {Name: "n", Type: types.String()}}, Options: options}
}

func batch() *changelog.Batch {
	var b changelog.Batch
	var rb row.Builder
	for _, op := range []changelog.Op{changelog.Insert, changelog.UpdateBefore, changelog.UpdateAfter, changelog.Delete} {
		rb.Begin(b.Buf(), 2)
		rb.Int64(0, 1)
		if op != changelog.Delete {
			rb.String(1, "Egor")
		}
		b.Commit(op, rb.Finish([]types.Phys{types.PhysInt, types.PhysBytes}))
	}
	return &b
}

// lockedBuffer is a buffer that several goroutines may use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func open(t *testing.T, out, errs *lockedBuffer, o spi.Options) spi.Sink {
	t.Helper()
	r := spi.NewRegistry()
	Register(r, out, errs)
	tb := table(o)
	s, err := r.Connector("print").OpenSink(t.Context(), spi.SinkSpec{Table: tb, Columns: []int{0, 1}, Mode: spi.Retract, Writers: 4})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLines(t *testing.T) {
	t.Parallel()
	lines := []string{"+I[1, Egor]", "-U[1, Egor]", "+U[1, Egor]", "-D[1, NULL]", ""}
	for prefix, o := range map[string]spi.Options{"": {}, "joined> ": {"print-identifier": "joined", "standard-error": "true"}} {
		var out, errs lockedBuffer
		w := open(t, &out, &errs, o).Writer(0)
		if err := w.Write(t.Context(), batch()); err != nil {
			t.Fatal(err)
		}
		if out.String()+errs.String() != "" {
			t.Error("written before the epoch's end")
		}
		w.Barrier(t.Context(), 1, func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
		want := prefix + strings.Join(lines, "\n"+prefix)
		want = strings.TrimSuffix(want, prefix)
		got := out.String()
		if prefix != "" {
			got = errs.String()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWritersDoNotMixLines(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	s := open(t, &out, &out, spi.Options{})
	var wg sync.WaitGroup
	for i := range 4 {
		w := s.Writer(i)
		wg.Go(func() {
			for range 2000 {
				if err := w.Write(t.Context(), batch()); err != nil {
					t.Error(err)
				}
			}
			w.Barrier(t.Context(), 1, func(error) {})
		})
	}
	wg.Wait()
	for _, l := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if l != "+I[1, Egor]" && l != "-U[1, Egor]" && l != "+U[1, Egor]" && l != "-D[1, NULL]" {
			t.Fatalf("a torn line %q", l)
		}
	}
	if n := s.Stats().Rows; n != 4*4*2000 {
		t.Errorf("%d rows counted", n)
	}
}

func TestConformance(t *testing.T) {
	var out lockedBuffer
	r := spi.NewRegistry()
	Register(r, &out, &out)
	conformance.Sink(t, conformance.SinkCase{Connector: r.Connector("print"), Table: table(spi.Options{"sink.parallelism": "2"}), Batch: batch(),
		Written: func() int { return strings.Count(out.String(), "\n") }})
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	r := spi.NewRegistry()
	Register(r, nil, nil)
	for _, o := range []spi.Options{{"standard-error": "maybe"}, {"sink.parallelism": "0"}} {
		if _, err := r.Connector("print").CheckSink(table(o)); err == nil {
			t.Errorf("%v is accepted", o)
		}
	}
	if _, err := r.Connector("print").CheckSource(table(nil)); err == nil {
		t.Error("print can be read")
	}
}
