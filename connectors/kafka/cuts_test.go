package kafka

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestAnyCut stops a reader at every offset of a log, by a limit and as a bounded end, and goes on from its position
// with another source: nothing is missing and nothing comes twice, although the log holds interleaved transactions, some
// of them aborted, control records, and gaps that compaction left.
func TestAnyCut(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	if err := b.Cluster().CreateTopic("t", 1, map[string]string{"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0", "segment.bytes": "200"}); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	producers := make([]*kgo.Client, 3)
	inside := make([]bool, len(producers))
	for i := range producers {
		cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.TransactionalID(fmt.Sprint("tx", i)), kgo.DefaultProduceTopic("t"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		producers[i] = cl
	}
	end := func(i int) {
		if err := producers[i].EndTransaction(t.Context(), kgo.TransactionEndTry(rng.IntN(2) == 0)); err != nil {
			t.Fatal(err)
		}
		inside[i] = false
	}
	for n := range 60 {
		i := rng.IntN(len(producers))
		if !inside[i] {
			if err := producers[i].BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			inside[i] = true
		}
		r := &kgo.Record{Key: fmt.Append(nil, rng.IntN(12)), Value: fmt.Appendf(nil, "%d|x", n)}
		if err := producers[i].ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if rng.IntN(3) == 0 {
			end(i)
		}
		if n == 40 { // what follows stays as it is
			b.Cluster().Compact()
		}
	}
	for i := range producers {
		if inside[i] {
			end(i)
		}
	}

	tb := table(b.Addr(), "scan.bounded.mode", "latest-offset")
	src, _ := open(t, tb, nil)
	all := readAll(t, src.Reader(0), tb)
	last := src.Reader(0).Positions(nil)[0].Offset
	if len(all) < 5 || len(all) == 60 || last < 70 {
		t.Fatalf("%d records, the last at %d: %v", len(all), last, all)
	}
	for cut := src.Positions()[0].Offset; cut <= last; cut++ {
		for _, bounded := range []bool{false, true} {
			at := table(b.Addr(), "scan.bounded.mode", "latest-offset")
			if bounded {
				at = table(b.Addr(), "scan.bounded.mode", "specific-offsets", "scan.bounded.specific-offsets", fmt.Sprintf("partition:0,offset:%d", cut))
			}
			src, _ := open(t, at, nil)
			r := src.Reader(0)
			if !bounded {
				r.Limit([]spi.Position{{Topic: "t", Offset: cut}})
			}
			var got []string
			for start := time.Now(); bounded && !r.Done() || !bounded && !r.AtLimit(); {
				more, err := tryReadOnce(r, tb)
				got = append(got, more...)
				if err != nil || time.Since(start) > time.Minute {
					t.Fatalf("cut %d: %v, at %v", cut, err, r.Positions(nil))
				}
				time.Sleep(100 * time.Microsecond)
			}
			pos := r.Positions(nil)
			src.Close()
			if pos[0].Offset != cut {
				t.Errorf("cut %d is at %d", cut, pos[0].Offset)
			}
			src, _ = open(t, tb, func(s *spi.Scan) { s.Start = pos })
			got = append(got, readAll(t, src.Reader(0), tb)...)
			src.Close()
			if strings.Join(got, " ") != strings.Join(all, " ") {
				t.Fatalf("cut %d (bounded %v)\ngot  %v\nwant %v", cut, bounded, got, all)
			}
		}
	}
	t.Logf("%d records in %d offsets", len(all), last)
}
