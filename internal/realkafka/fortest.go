package realkafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// BrokersVariable is the environment variable that names a running broker for
// tests to use instead of one of their own. Tests create their own topics there.
const BrokersVariable = "KAFKA_BROKERS_FOR_TESTS"

// shared is the broker of this test process. It ends with the process: see
// supervisor.
var shared struct {
	once   sync.Once
	broker *Broker
	err    error
}

// ForTest returns the broker of this test process, started when the first test
// asks for it and ended with the process. Where no broker can be had the test is
// skipped with the reason; with CI=true it fails, so that a run that tested
// nothing is not taken for a good one. Tests share the broker: they take topic
// names from [UniqueName] and never stop it.
func ForTest(t testing.TB) *Broker {
	t.Helper()
	shared.once.Do(func() { shared.broker, shared.err = sharedBroker() })
	if shared.err != nil {
		GiveUp(t, shared.err)
	}
	return shared.broker
}

// GiveUp skips the test when a server cannot be had, and fails it in CI or when
// the server is there and does not start.
func GiveUp(t testing.TB, err error) {
	t.Helper()
	giveUp(t, err, os.Getenv("CI") == "true")
}

func giveUp(t testing.TB, err error, ci bool) {
	t.Helper()
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) && !ci {
		t.Skip(err)
	}
	t.Fatal(err)
}

func sharedBroker() (*Broker, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // the first time fetches the jars
	defer cancel()
	if addr := os.Getenv(BrokersVariable); addr != "" {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		if err := awaitReady(ctx, addr, func() bool { return false }); err != nil {
			return nil, fmt.Errorf("%s=%s: %w", BrokersVariable, addr, err)
		}
		return External(addr), nil
	}
	dir, err := os.MkdirTemp("", "sluice-kafka-")
	if err != nil {
		return nil, err
	}
	b, err := Start(ctx, dir, Options{RemoveAtEnd: true})
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return b, nil
}
