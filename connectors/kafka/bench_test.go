package kafka

import (
	"os"
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
