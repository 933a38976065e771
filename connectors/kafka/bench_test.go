package kafka

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// nothing is a format that decodes nothing.
type nothing struct{ bar }

func (n nothing) NewDecoder(spi.DecodeSpec, spi.Options) (spi.Decoder, error) { return n, nil }
func (nothing) Decode(spi.Message, *spi.Out) error                            { return nil }

// BenchmarkSourceRealBroker reads a topic of a running broker from its beginning to its end with a decoder
// that does nothing: KAFKA_BROKERS_FOR_TESTS=host:port SLUICE_BENCH_TOPIC=users_M.
func BenchmarkSourceRealBroker(b *testing.B) {
	addr, topic := os.Getenv("KAFKA_BROKERS_FOR_TESTS"), os.Getenv("SLUICE_BENCH_TOPIC")
	if addr == "" || topic == "" {
		b.Skip("needs KAFKA_BROKERS_FOR_TESTS and SLUICE_BENCH_TOPIC")
	}
	r := spi.NewRegistry()
	r.AddFormat(nothing{bar{name: "bar"}})
	Register(r)
	for b.Loop() {
		tb := table(addr, "topic", topic, "scan.bounded.mode", "latest-offset")
		for _, kv := range []string{"properties.max.partition.fetch.bytes", "properties.fetch.max.bytes"} {
			if v := os.Getenv(kv); v != "" {
				tb.Options[kv] = v
			}
		}
		s := scanOf(tb, &warnings{})
		s.Readers = 2
		src, err := r.Connector("kafka").OpenSource(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		done := make(chan struct{})
		for i := range s.Readers {
			go func(rd spi.Reader) {
				var batch changelog.Batch
				for !rd.Done() {
					n, err := rd.Read(&batch, 1024)
					if err != nil {
						b.Error(err)
						break
					}
					if n == 0 {
						select {
						case <-rd.Ready():
						case <-time.After(time.Second):
						}
					}
				}
				done <- struct{}{}
			}(src.Reader(i))
		}
		for range s.Readers {
			<-done
		}
		st := src.Stats()
		b.ReportMetric(float64(st.Records)/time.Since(start).Seconds(), "records/s")
		b.ReportMetric(float64(st.Bytes)/1e6/time.Since(start).Seconds(), "MB/s")
		src.Close()
	}
}

// benchTopic creates a topic of four partitions for the time of a benchmark.
func benchTopic(b *testing.B, addr, name string) string {
	adm, err := dial(&settings{seeds: []string{addr}, clientID: "bench", dialTimeout: time.Second, connIdle: time.Minute, requestTimeout: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := adm.adm.CreateTopic(b.Context(), 4, 1, nil, name); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if _, err := adm.adm.DeleteTopic(context.Background(), name); err != nil {
			b.Error(err)
		}
		adm.close()
	})
	return name
}

// BenchmarkSinkRealBroker writes 2M records of 200 bytes with two writers: KAFKA_BROKERS_FOR_TESTS=host:port.
func BenchmarkSinkRealBroker(b *testing.B) {
	addr := os.Getenv("KAFKA_BROKERS_FOR_TESTS")
	if addr == "" {
		b.Skip("needs KAFKA_BROKERS_FOR_TESTS")
	}
	const records, perBatch, batchesPerEpoch = 2_000_000, 1000, 20
	topic := benchTopic(b, addr, "kc_bench_sink")
	tb := table(addr, "topic", topic, "format", "cdc")
	batch := batchOf()
	for i := range perBatch {
		one := batchOf(change{changelog.Insert, int64(i), strings.Repeat("x", 190)})
		batch.AppendRow(changelog.Insert, one.Row(0))
	}
	for b.Loop() {
		s, _, err := tryOpenSink(tb, spi.Retract, 2)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				w := s.Writer(i)
				var acks sync.WaitGroup
				for n := range records / 2 / perBatch {
					if err := w.Write(b.Context(), batch); err != nil {
						b.Error(err)
						return
					}
					if n%batchesPerEpoch == batchesPerEpoch-1 {
						acks.Add(1)
						w.Barrier(b.Context(), uint64(n), func(err error) {
							if err != nil {
								b.Error(err)
							}
							acks.Done()
						})
					}
				}
				acks.Wait()
			})
		}
		wg.Wait()
		b.ReportMetric(records/time.Since(start).Seconds(), "records/s")
		s.Close()
	}
}

// BenchmarkRoundTripRealBroker times a record from Write to Read: KAFKA_BROKERS_FOR_TESTS=host:port.
func BenchmarkRoundTripRealBroker(b *testing.B) {
	addr := os.Getenv("KAFKA_BROKERS_FOR_TESTS")
	if addr == "" {
		b.Skip("needs KAFKA_BROKERS_FOR_TESTS")
	}
	tb := table(addr, "topic", benchTopic(b, addr, "kc_bench_trip"))
	s, _ := openWriter(b, tb, spi.AppendOnly, 1)
	tb.Options["scan.startup.mode"] = "latest-offset"
	src, _ := open(b, tb, nil)
	var took []time.Duration
	var batch changelog.Batch
	for b.Loop() {
		start := time.Now()
		if err := s.Writer(0).Write(b.Context(), batchOf(change{changelog.Insert, 1, "x"})); err != nil {
			b.Fatal(err)
		}
		barrier(b, s.Writer(0), 1)
		for {
			batch.Reset()
			n, err := src.Reader(0).Read(&batch, 10)
			if err != nil {
				b.Fatal(err)
			}
			if n > 0 {
				break
			}
			<-src.Reader(0).Ready()
		}
		took = append(took, time.Since(start))
		time.Sleep(2 * time.Millisecond)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
