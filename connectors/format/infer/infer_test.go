package infer

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
)

// TestInfer infers tables from messages, a line each: the key, " | " and the value; (null) is a null.
func TestInfer(t *testing.T) {
	datadriven.RunTest(t, "testdata/infer.txt", func(t *testing.T, d *datadriven.TestData) string {
		topic := "topic"
		d.MaybeScanArgs(t, "topic", &topic)
		table, err := Infer(topic, messagesOf(d.Input))
		if err != nil {
			return "error: " + fault.Text(err) + "\n"
		}
		sql := table.SQL([]Setting{{"topic", topic}})
		if table.Format != "json" { // it can be planned as it is
			planned(t, table.SQL([]Setting{{"connector", "kafka"}, {"topic", topic}, {"properties.bootstrap.servers", "b:9092"}, {"scan.startup.mode", "earliest-offset"}})+
				"SELECT * FROM "+quoted(table.Name)+";")
		}
		return sql
	})
}

func messagesOf(lines string) []spi.Message {
	var messages []spi.Message
	for line := range strings.Lines(lines) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		var m spi.Message
		if key != "(null)" {
			m.Key = []byte(key)
		}
		if value != "(null)" {
			m.Value = []byte(value)
		}
		messages = append(messages, m)
	}
	return messages
}
