package datagen

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/conformance"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/types"
)

func connectorOf() spi.Connector {
	r := spi.NewRegistry()
	Register(r)
	return r.Connector("datagen")
}

func table(o spi.Options) *spi.Table {
	return &spi.Table{Name: "g", Columns: []spi.Column{
		{Name: "id", Type: types.Of(types.BigInt)}, {Name: "small", Type: types.Of(types.TinyInt)}, {Name: "s", Type: types.String()},
		{Name: "f", Type: types.Of(types.Double)}, {Name: "d", Type: types.DecimalOf(10, 2)}, {Name: "ts", Type: types.TimestampOf(3)},
		{Name: "ok", Type: types.Of(types.Boolean)},
	}, Options: o}
}

func TestConformance(t *testing.T) {
	conformance.Source(t, conformance.SourceCase{Connector: connectorOf(), Table: table(spi.Options{
		"rows-per-second": "0", "number-of-rows": "150", "fields.s.length": "8",
	}), Records: 150})
	conformance.Source(t, conformance.SourceCase{Connector: connectorOf(), Table: table(spi.Options{
		"rows-per-second": "5000", "fields.id.kind": "sequence", "fields.id.start": "10", "fields.id.end": "19",
	}), Records: 10})
}

func TestValues(t *testing.T) {
	t.Parallel()
	tb := table(spi.Options{"rows-per-second": "0", "number-of-rows": "500", "fields.id.kind": "sequence", "fields.id.start": "1", "fields.id.end": "1000",
		"fields.small.min": "-3", "fields.small.max": "3", "fields.s.length": "5", "fields.f.min": "2", "fields.f.max": "4", "fields.d.min": "7", "fields.d.max": "8"})
	src, err := connectorOf().OpenSource(t.Context(), spi.Scan{Table: tb, Columns: []int{0, 1, 2, 3, 4, 5, 6}, Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var b changelog.Batch
	if n, err := src.Reader(0).Read(&b, 1000); n != 500 || err != nil {
		t.Fatalf("%d rows, %v", n, err)
	}
	small := map[int64]bool{}
	for i := range b.Len() {
		r := b.Row(i)
		small[r.Int64(1)] = true
		if r.Int64(0) != int64(i+1) || r.Int64(1) < -3 || r.Int64(1) > 3 || len(r.Bytes(2)) != 5 || r.Float64(3) < 2 || r.Float64(3) > 4 ||
			r.Int64(4) < 700 || r.Int64(4) > 800 || r.Int64(5)%1000 != 0 || r.Int64(6)>>1 != 0 {
			t.Fatalf("row %d: %d %d %q %g %d %d %d", i, r.Int64(0), r.Int64(1), r.Bytes(2), r.Float64(3), r.Int64(4), r.Int64(5), r.Int64(6))
		}
	}
	if len(small) != 7 {
		t.Errorf("%d of 7 values came up", len(small))
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	src, err := connectorOf().OpenSource(t.Context(), spi.Scan{Table: table(spi.Options{"rows-per-second": "1000"}), Columns: []int{0}, Readers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	start, rows := time.Now(), 0
	for rows < 100 {
		for i := range 2 {
			var b changelog.Batch
			n, err := src.Reader(i).Read(&b, 1000)
			if err != nil {
				t.Fatal(err)
			}
			rows += n
		}
		<-src.Reader(0).Ready()
	}
	if d := time.Since(start); d < 80*time.Millisecond {
		t.Errorf("100 rows in %v at 1000 a second", d)
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]spi.Options{
		"fields.id.end":      {"fields.id.kind": "sequence", "fields.id.start": "5", "fields.id.end": "4"},
		"fields.id.kind":     {"fields.id.kind": "sequence"},
		"fields.x.kind":      {"fields.x.kind": "random"},
		"fields.id.what":     {"fields.id.what": "1"},
		"fields.id.start":    {"fields.id.start": "1"},
		"fields.small.max":   {"fields.small.max": "200"},
		"fields.id.length":   {"fields.id.length": "3"},
		"fields.f.min":       {"fields.f.min": "many"},
		"fields.s.null-rate": {"fields.s.null-rate": "0.5"},
		"number-of-rows":     {"number-of-rows": "-1"},
		"rows-per-second":    {"rows-per-second": "fast"},
		"fields.s.max":       {"fields.s.max": "3"},
	} {
		_, err := connectorOf().CheckSource(table(o))
		var oe *spi.OptionError
		if !errors.As(err, &oe) || oe.Name != name || !strings.Contains(oe.Msg, "") {
			t.Errorf("%v: %v", o, err)
		}
	}
}

// A key that rows would repeat is refused; one with a sequence in it is not.
func TestPrimaryKey(t *testing.T) {
	t.Parallel()
	random, both := table(spi.Options{}), table(spi.Options{"fields.small.kind": "sequence", "fields.small.start": "1", "fields.small.end": "9"})
	random.PrimaryKey, both.PrimaryKey = []int{0, 1}, []int{0, 1}
	if _, err := connectorOf().CheckSource(random); err == nil || !strings.Contains(err.Error(), "set 'fields.id.kind' = 'sequence'") {
		t.Error(err)
	}
	if _, err := connectorOf().CheckSource(both); err != nil {
		t.Error(err)
	}
}
