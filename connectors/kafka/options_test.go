package kafka

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

// TestRefused holds every wrong option to an error that names it.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sink    bool
		blame   string // the option
		msg     string
		options []string
	}{
		{false, "topic", "missing", []string{"topic", "-"}},
		{false, "topic", "names no topic", []string{"topic", " ; "}},
		{false, "topic-pattern", "exclude each other", []string{"topic-pattern", "t.*"}},
		{false, "topic-pattern", "missing closing", []string{"topic", "-", "topic-pattern", "("}},
		{false, "properties.bootstrap.servers", "missing", []string{"properties.bootstrap.servers", "-"}},
		{false, "properties.bootstrap.servers", "takes HOST:PORT alone", []string{"properties.bootstrap.servers", "a:1,user:word@b:1"}},
		{false, "properties.bootstrap.servers", "no address", []string{"properties.bootstrap.servers", ","}},
		{false, "format", "missing", []string{"format", "-"}},
		{false, "format", `did you mean "bar"?`, []string{"format", "bra"}},
		{false, "format", "say the same", []string{"value.format", "bar"}},
		{false, "key.fields", "needs 'key.format'", []string{"key.fields", "id"}},
		{false, "key.format", "needs 'key.fields'", []string{"key.format", "bar"}},
		{false, "key.fields", `did you mean "name"?`, []string{"key.format", "bar", "key.fields", "naem"}},
		{false, "key.fields-prefix", "EXCEPT_KEY", []string{"key.format", "bar", "key.fields", "id", "key.fields-prefix", "i"}},
		{false, "key.fields-prefix", "does not begin", []string{"key.format", "bar", "key.fields", "id", "key.fields-prefix", "x", "value.fields-include", "EXCEPT_KEY"}},
		{false, "value.fields-include", "needs 'key.format'", []string{"value.fields-include", "EXCEPT_KEY"}},
		{false, "value.fields-include", "wants one of", []string{"value.fields-include", "SOME"}},
		{false, "scan.startup.mode", "wants one of", []string{"scan.startup.mode", "begin"}},
		{false, "scan.startup.mode", "needs option", []string{"scan.startup.mode", "timestamp"}},
		{false, "scan.startup.timestamp-millis", "no effect", []string{"scan.startup.timestamp-millis", "5"}},
		{false, "scan.startup.timestamp-millis", "since 1970", []string{"scan.startup.mode", "timestamp", "scan.startup.timestamp-millis", "-5"}},
		{false, "scan.startup.specific-offsets", "wants 'partition:0", []string{"scan.startup.mode", "specific-offsets", "scan.startup.specific-offsets", "0:42"}},
		{false, "scan.startup.specific-offsets", "twice", []string{"scan.startup.mode", "specific-offsets", "scan.startup.specific-offsets", "partition:0,offset:1;partition:0,offset:2"}},
		{false, "scan.bounded.mode", "wants one of", []string{"scan.bounded.mode", "earliest-offset"}},
		{false, "properties.group.id", "needs option", []string{"scan.startup.mode", "-"}},
		{false, "scan.topic-partition-discovery.interval", "no duration", []string{"scan.topic-partition-discovery.interval", "often"}},
		{false, "scan.parallelism", "positive", []string{"scan.parallelism", "0"}},
		{false, "properties.fetch.max.byte", `did you mean "properties.fetch.max.bytes"?`, []string{"properties.fetch.max.byte", "5"}},
		{false, "properties.fetch.max.bytes", "integer", []string{"properties.fetch.max.bytes", "much"}},
		{false, "properties.isolation.level", "read_committed", []string{"properties.isolation.level", "dirty"}},
		{false, "properties.interceptor.classes", "Java class", []string{"properties.interceptor.classes", "x.Y"}},
		{false, "properties.sasl.mechanism", "Kerberos", []string{"properties.sasl.mechanism", "GSSAPI"}},
		{false, "properties.sasl.mechanism", "no effect", []string{"properties.sasl.mechanism", "PLAIN"}},
		{false, "properties.sasl.mechanism", "missing", []string{"properties.security.protocol", "SASL_SSL"}},
		{false, "properties.sasl.jaas.config", "missing", []string{"properties.security.protocol", "SASL_SSL", "properties.sasl.mechanism", "PLAIN"}},
		{false, "properties.sasl.jaas.config", "no password", []string{"properties.security.protocol", "SASL_SSL", "properties.sasl.mechanism", "PLAIN", "properties.sasl.jaas.config", `a.B required username="u";`}},
		{false, "properties.sasl.jaas.config", "has both password and passwordFile", []string{"properties.security.protocol", "SASL_SSL", "properties.sasl.mechanism", "PLAIN", "properties.sasl.jaas.config", `a.B required username="u" password="p" passwordFile="f";`}},
		{false, "properties.sasl.jaas.config", "tokenFile", []string{"properties.security.protocol", "SASL_SSL", "properties.sasl.mechanism", "OAUTHBEARER", "properties.sasl.jaas.config", `a.B required username="u";`}},
		{false, "properties.ssl.truststore.type", "PEM", []string{"properties.ssl.truststore.type", "JKS"}},
		{false, "properties.ssl.key.password", "unencrypted", []string{"properties.ssl.key.password", "x"}},
		{true, "properties.acks", "can be lost", []string{"properties.acks", "0"}},
		{true, "properties.transactional.id", "delivery-guarantee", []string{"properties.transactional.id", "x"}},
		{true, "sink.transactional-id-prefix", "needs option", []string{"sink.delivery-guarantee", "exactly-once"}},
		{true, "properties.acks", "'all'", []string{"sink.delivery-guarantee", "exactly-once", "sink.transactional-id-prefix", "x", "properties.acks", "1"}},
		{true, "properties.enable.idempotence", "'true'", []string{"sink.delivery-guarantee", "exactly-once", "sink.transactional-id-prefix", "x", "properties.enable.idempotence", "false"}},
		{true, "sink.partitioner", "Java classes", []string{"sink.partitioner", "com.acme.P"}},
		{true, "sink.partitioner", "excludes", []string{"sink.partitioner", "round-robin", "key.format", "bar", "key.fields", "id"}},
		{true, "topic", "one topic", []string{"topic", "a;b"}},
		{true, "topic", "one topic", []string{"topic", "-"}},
	} {
		tb := table("localhost:1", c.options...)
		k := registry().Connector("kafka")
		var err error
		if c.sink {
			_, err = k.CheckSink(tb)
		} else {
			_, err = k.CheckSource(tb)
		}
		var oe *spi.OptionError
		if !errors.As(err, &oe) || oe.Name != c.blame || !strings.Contains(oe.Msg, c.msg) {
			t.Errorf("%v: %v, want %s: … %s", c.options, err, c.blame, c.msg)
		}
	}
	tb := table("localhost:1")
	tb.PrimaryKey = []int{0}
	if _, err := registry().Connector("kafka").CheckSource(tb); err == nil || !strings.Contains(err.Error(), "upsert-kafka") {
		t.Errorf("a PRIMARY KEY with an append-only format: %v", err)
	}
	u := upsertTable("localhost:1")
	u.PrimaryKey = nil
	if _, err := registry().Connector("upsert-kafka").CheckSource(u); err == nil || !strings.Contains(err.Error(), "PRIMARY KEY") {
		t.Errorf("upsert-kafka without a key: %v", err)
	}
	for name, o := range map[string][]string{"scan.startup.mode": {"scan.startup.mode", "earliest-offset"}, "sink.partitioner": {"sink.partitioner", "fixed"}, "value.format": {"value.format", "cdc"}, "key.format": {"key.format", "-"}} {
		_, err := registry().Connector("upsert-kafka").CheckSink(upsertTable("localhost:1", o...))
		var oe *spi.OptionError
		if !errors.As(err, &oe) || oe.Name != name {
			t.Errorf("upsert-kafka with %v: %v", o, err)
		}
	}
}

func TestTraits(t *testing.T) {
	t.Parallel()
	r := registry()
	s, err := r.Connector("kafka").CheckSource(table("x:1", "format", "cdc", "scan.bounded.mode", "latest-offset", "scan.parallelism", "3"))
	if err != nil || s.Native != spi.Retract || !s.Bounded || s.Parallelism != 3 || len(s.Metadata) != 8 || s.Metadata[7].Metadata != "value.size" {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = r.Connector("upsert-kafka").CheckSource(upsertTable("x:1"))
	if err != nil || s.Native != spi.Upsert || s.Bounded {
		t.Errorf("%+v, %v", s, err)
	}
	k, err := r.Connector("upsert-kafka").CheckSink(upsertTable("x:1", "sink.parallelism", "2"))
	if err != nil || k.Accepts != spi.Upsert || k.Parallelism != 2 || len(k.Metadata) != 2 {
		t.Errorf("%+v, %v", k, err)
	}
	for typ, ok := range map[types.Kind]bool{types.BigInt: true, types.Varchar: false} {
		tb := table("x:1")
		tb.Columns = append(tb.Columns, spi.Column{Name: "o", Metadata: "offset", Type: types.Of(typ)})
		if _, err := r.Connector("kafka").CheckSource(tb); (err == nil) != ok {
			t.Errorf("offset as %v: %v", typ, err)
		}
	}
	tb := table("x:1")
	tb.Columns = append(tb.Columns, spi.Column{Name: "o", Metadata: "ofset", Type: types.Of(types.BigInt)})
	if _, err := r.Connector("kafka").CheckSource(tb); err == nil || !strings.Contains(err.Error(), `did you mean "offset"?`) {
		t.Errorf("%v", err)
	}
}

func TestEveryDefaultIsAccepted(t *testing.T) {
	t.Parallel()
	o := spi.Options{"properties.bootstrap.servers": "a:1, b:2,", "properties.acks": "1", "properties.linger.ms": "5", "properties.key.deserializer": "x.Y",
		"properties.session.timeout.ms": "1", "properties.enable.auto.commit": "false", "properties.fetch.max.wait.ms": "100"}
	s, err := parseProperties(o)
	if err != nil || len(s.seeds) != 2 || s.idempotent || s.acks != 1 || len(s.notes) != 4 || s.fetchMaxWait.Milliseconds() != 100 {
		t.Errorf("%+v, %v", s, err)
	}
	for name, p := range properties {
		n := 0
		for _, set := range []bool{p.set != nil, p.note != "", p.refuse != ""} {
			if set {
				n++
			}
		}
		if n != 1 {
			t.Errorf("property %s is %d things", name, n)
		}
	}
}

func TestJAAS(t *testing.T) {
	t.Parallel()
	m, err := parseJAAS(`org.apache.kafka.common.security.scram.ScramLoginModule  required
		username="al\"ice" password='p=;w d'  tokenauth=true;`)
	if err != nil || m[""] != "ScramLoginModule" || m["username"] != `al"ice` || m["password"] != "p=;w d" || m["tokenauth"] != "true" {
		t.Errorf("%v, %v", m, err)
	}
	for _, bad := range []string{"", "X", "X optional a=b;", `X required a="b`, `X required a="b"`, "X required a;"} {
		if m, err := parseJAAS(bad); err == nil {
			t.Errorf("%q gives %v", bad, m)
		}
	}
}
