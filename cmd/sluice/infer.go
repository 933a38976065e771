package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/connectors/format/infer"
	"github.com/sluicesql/sluice/connectors/kafka"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/secret"
	"github.com/sluicesql/sluice/sql/format"
)

const (
	// inferredSample is how many messages are looked at unless another number is asked for, and maxSample the most.
	inferredSample = 1000
	maxSample      = 1000000
	// samplePatience is how long a sample may take to come.
	samplePatience = time.Minute
)

func newInfer() *cobra.Command {
	var records embedFlag
	var properties []string
	var bootstrap string
	var n int
	cmd := &cobra.Command{
		Use:   "infer [flags] TOPIC",
		Short: "Print a CREATE TABLE for a Kafka topic",
		Long: `Read the beginning of a topic and print a CREATE TABLE that reads it: the envelope, the
primary key by the message keys, and each column's type, by the schemas embedded in the
messages or else by what the values show. What messages cannot tell stands in a comment.

Exit codes: 0 printed, 1 the topic cannot be read or holds no rows, 2 a flag is wrong.`,
		Example: `  sluice infer --bootstrap kafka:9092 pg.public.users
  sluice infer --embed events.jsonl pg.public.users
  sluice infer --bootstrap kafka:9093 --property security.protocol=SSL pg.public.users`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return wrong(fmt.Errorf("%s needs the name of one topic; see %[1]s --help", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSample("messages", n); err != nil {
				return err
			}
			o := spi.Options{"topic": args[0], "properties.bootstrap.servers": bootstrap}
			var given []infer.Setting
			for _, p := range properties {
				k, v, err := keyValue("property", p)
				if err != nil {
					return err
				}
				o["properties."+k] = v
				given = append(given, infer.Setting{Name: "properties." + k, Value: hideSecret(k, v)})
			}
			shown := bootstrap
			switch {
			case len(records) > 0:
				broker, err := startBroker(records)
				if err != nil {
					return err
				}
				defer broker.close()
				if err := broker.Load(func(string) bool { return false }); err != nil {
					return &failure{exitFailed, fmt.Errorf("--embed: %w", err)}
				}
				o = kafka.WithoutCredentials(o)
				o["properties.bootstrap.servers"], shown = broker.variables()[brokersVariable], "${"+brokersVariable+"}"
			case bootstrap == "":
				if o["properties.bootstrap.servers"] = os.Getenv(brokersVariable); o["properties.bootstrap.servers"] == "" {
					return wrong(fault.Errorf(fault.CommandLine, "no broker").
						Fix("give --bootstrap HOST:PORT, set %s, or read a file by --embed RECORDS.jsonl", brokersVariable))
				}
				shown = "${" + brokersVariable + "}"
			}
			sampled, err := sample(cmd.Context(), o, n)
			if err != nil {
				return &failure{exitFailed, err}
			}
			table, err := infer.Infer(args[0], messagesOf(sampled))
			if err != nil {
				return &failure{exitFailed, fmt.Errorf("topic %s: %w", args[0], err)}
			}
			with := []infer.Setting{{Name: "connector", Value: "kafka"}, {Name: "topic", Value: args[0]}, {Name: "properties.bootstrap.servers", Value: shown}}
			with = append(append(with, given...), infer.Setting{Name: "scan.startup.mode", Value: "earliest-offset"})
			laid, err := format.Text("", table.SQL(with))
			if err != nil {
				return &failure{exitFailed, err}
			}
			if _, err := fmt.Fprint(cmd.OutOrStdout(), laid); err != nil {
				return &failure{exitFailed, err}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&bootstrap, "bootstrap", "", "the `BROKERS` of the topic, HOST:PORT; without it ${KAFKA_BROKERS}")
	records.add(flags, "")
	flags.StringArrayVar(&properties, "property", nil, "a `KEY=VALUE` of Kafka's client, such as security.protocol=SSL (repeatable)")
	flags.IntVar(&n, "messages", inferredSample, "look at the first `N` messages")
	return cmd
}

// checkSample refuses a number of messages that makes no sample.
func checkSample(flag string, n int) error {
	if n < 1 || n > maxSample {
		return wrong(fmt.Errorf("--%s %d: a sample has 1 to %d messages", flag, n, maxSample))
	}
	return nil
}

// sample reads messages from the beginning of the topics that options name, until it is interrupted.
func sample(ctx context.Context, o spi.Options, n int) (*kafka.Sample, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, samplePatience)
	defer cancel()
	return kafka.ReadSample(ctx, o, n)
}

func messagesOf(sampled *kafka.Sample) []spi.Message {
	messages := make([]spi.Message, len(sampled.Records))
	for i := range sampled.Records {
		messages[i] = sampled.Records[i].Message
	}
	return messages
}

// hideSecret puts a variable in the place of a property's value that nobody wants to find in a file.
func hideSecret(name, v string) string {
	if secret.InValue(name, v) == nil {
		return v
	}
	return "${" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name)) + "}"
}
