package planner

import (
	"context"
	"fmt"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

// fakeConnector declares what the tests need and opens nothing.
type fakeConnector struct {
	name    string
	options []spi.Option
	source  func(*spi.Table) (spi.SourceTraits, error)
	sink    func(*spi.Table) (spi.SinkTraits, error)
}

func (c *fakeConnector) Name() string           { return c.name }
func (c *fakeConnector) Help() string           { return "a connector for tests" }
func (c *fakeConnector) Options() []spi.Option  { return c.options }
func (c *fakeConnector) Metadata() []spi.Column { return nil }

func (c *fakeConnector) CheckSource(t *spi.Table) (spi.SourceTraits, error) {
	if c.source == nil {
		return spi.SourceTraits{}, fmt.Errorf("%s: %w", c.name, spi.ErrNotSource)
	}
	return c.source(t)
}

func (c *fakeConnector) CheckSink(t *spi.Table) (spi.SinkTraits, error) {
	if c.sink == nil {
		return spi.SinkTraits{}, fmt.Errorf("%s: %w", c.name, spi.ErrNotSink)
	}
	return c.sink(t)
}

func (c *fakeConnector) OpenSource(context.Context, spi.Scan) (spi.Source, error) {
	panic("the planner opens nothing")
}

func (c *fakeConnector) OpenSink(context.Context, spi.SinkSpec) (spi.Sink, error) {
	panic("the planner opens nothing")
}

// fakeFormat is a format by its traits.
type fakeFormat struct {
	name    string
	decodes spi.Mode
	options []spi.Option
}

func (f *fakeFormat) Name() string              { return f.name }
func (f *fakeFormat) Help() string              { return "a format for tests" }
func (f *fakeFormat) Options() []spi.Option     { return f.options }
func (f *fakeFormat) Metadata() []spi.Column    { return nil }
func (f *fakeFormat) Decodes() (spi.Mode, bool) { return f.decodes, f.decodes == spi.Retract }
func (f *fakeFormat) Encodes() spi.Mode         { return f.decodes }

func (f *fakeFormat) NewDecoder(spi.DecodeSpec, spi.Options) (spi.Decoder, error) {
	panic("the planner decodes nothing")
}

func (f *fakeFormat) NewEncoder(spi.EncodeSpec, spi.Options) (spi.Encoder, error) {
	panic("the planner encodes nothing")
}

// fakeRegistry has connectors of the kinds that matter: a log of messages in some format, one of keyed
// messages, sinks that take everything, and a generator.
func fakeRegistry() *spi.Registry {
	r := spi.NewRegistry()
	r.AddFormat(&fakeFormat{"json", spi.AppendOnly, []spi.Option{{Name: "ignore-parse-errors", Kind: spi.BoolOption, Default: "false"}}})
	r.AddFormat(&fakeFormat{"debezium-json", spi.Retract, []spi.Option{{Name: "ignore-parse-errors", Kind: spi.BoolOption, Default: "false"}}})
	metadata := []spi.Column{
		{Name: "partition", Metadata: "partition", Type: types.Of(types.Int).Required()},
		{Name: "offset", Metadata: "offset", Type: types.Of(types.BigInt).Required()},
		{Name: "timestamp", Metadata: "timestamp", Type: types.TimestampLTZOf(3).Required()},
		{Name: "topic", Metadata: "topic", Type: types.String().Required()},
	}
	messages := []spi.Option{
		{Name: "topic", Required: true, Help: "the topic to read"},
		{Name: "format", Kind: spi.StringOption}, {Name: "key.format"}, {Name: "value.format"},
		{Name: "properties.*"},
		{Name: "properties.sasl.jaas.config", Secret: true},
		{Name: "scan.startup.mode", Kind: spi.EnumOption, Values: []string{"earliest-offset", "latest-offset"}, Default: "group-offsets"},
		{Name: "scan.bounded.mode", Kind: spi.EnumOption, Values: []string{"unbounded", "latest-offset"}, Default: "unbounded"},
		{Name: "key.fields"},
		{Name: "scan.parallelism", Kind: spi.IntOption},
		{Name: "sink.parallelism", Kind: spi.IntOption},
		{Name: "sink.transactional-id-prefix", Unsupported: "transactions come later"},
	}
	log := &fakeConnector{name: "kafka", options: messages}
	format := func(t *spi.Table) (*fakeFormat, error) {
		f, ok := r.Format(t.Options.Get("format", t.Options.Get("value.format", ""))).(*fakeFormat)
		if !ok {
			return nil, &spi.OptionError{Name: "format", Msg: "connector kafka needs the option 'format'"}
		}
		return f, nil
	}
	log.source = func(t *spi.Table) (spi.SourceTraits, error) {
		f, err := format(t)
		if err != nil {
			return spi.SourceTraits{}, err
		}
		if t.Options["topic"] == "bad topic" {
			return spi.SourceTraits{}, &spi.OptionError{Name: "topic", Value: true, Msg: "a topic's name has no spaces"}
		}
		n, _ := t.Options.Int("scan.parallelism", 0)
		native, upsert := f.Decodes()
		return spi.SourceTraits{Native: native, CanUpsert: upsert, Bounded: t.Options["scan.bounded.mode"] == "latest-offset",
			Parallelism: int(n), Metadata: metadata}, nil
	}
	log.sink = func(t *spi.Table) (spi.SinkTraits, error) {
		f, err := format(t)
		if err != nil {
			return spi.SinkTraits{}, err
		}
		n, _ := t.Options.Int("sink.parallelism", 0)
		traits := spi.SinkTraits{Accepts: f.Encodes(), Parallelism: int(n), Metadata: metadata[2:3]}
		for i, c := range t.Columns {
			if c.Name == t.Options["key.fields"] {
				traits.Route = []int{i}
			}
		}
		return traits, nil
	}
	r.AddConnector(log)
	keyed := &fakeConnector{name: "upsert-kafka", options: messages}
	keyed.source = func(*spi.Table) (spi.SourceTraits, error) {
		return spi.SourceTraits{Native: spi.Upsert, CanUpsert: true}, nil
	}
	keyed.sink = func(*spi.Table) (spi.SinkTraits, error) { return spi.SinkTraits{Accepts: spi.Upsert}, nil }
	r.AddConnector(keyed)
	r.AddConnector(&fakeConnector{name: "print", options: []spi.Option{{Name: "print-identifier"}, {Name: "sink.parallelism", Kind: spi.IntOption}},
		sink: func(t *spi.Table) (spi.SinkTraits, error) {
			n, _ := t.Options.Int("sink.parallelism", 0)
			return spi.SinkTraits{Accepts: spi.Retract, Parallelism: int(n)}, nil
		}})
	r.AddConnector(&fakeConnector{name: "datagen",
		options: []spi.Option{{Name: "number-of-rows", Kind: spi.IntOption}, {Name: "fields.#.kind", Kind: spi.EnumOption, Values: []string{"random", "sequence"}}},
		source: func(t *spi.Table) (spi.SourceTraits, error) {
			return spi.SourceTraits{Native: spi.AppendOnly, Bounded: t.Options["number-of-rows"] != ""}, nil
		}})
	return r
}
