package realkafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

const (
	startPatience = 90 * time.Second
	stopPatience  = 30 * time.Second
	startAttempts = 3
)

// Options are a broker's settings. The zero value is a small broker for tests.
type Options struct {
	// Heap is the size of the JVM's heap as java writes it; empty means 512m.
	Heap string
	// JVM are further arguments for java; nil means those that start fastest.
	JVM []string
	// Listeners are further ones, NAME://HOST:PORT each, besides that of Addr. Properties say what they are.
	Listeners []string
	// Properties are added to server.properties, or replace what stands there.
	Properties map[string]string
	// RemoveAtEnd deletes the broker's folder when the broker ends or the process
	// that started it does. Such a broker cannot be restarted.
	RemoveAtEnd bool
}

// Broker is one Kafka node. Its methods may not be called at the same time,
// except for Addr.
type Broker struct {
	addr string
	dir  string
	opts Options
	argv []string
	proc *Process // nil when stopped, or when the broker is somebody else's
}

// Start runs a broker that keeps everything in dir, and returns when it answers.
// Data that a broker left in dir is kept. ctx bounds the start alone.
func Start(ctx context.Context, dir string, opts Options) (*Broker, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("folder for Kafka: %w", err)
	}
	if opts.Heap == "" {
		opts.Heap = "512m"
	}
	if opts.JVM == nil {
		opts.JVM = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"}
	}
	java, err := Java()
	if err != nil {
		return nil, err
	}
	libs, err := jars(ctx)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		b, err := startOnce(ctx, java, libs, dir, opts)
		if err == nil {
			return b, nil
		}
		// Another program took one of the ports between the search and the start.
		if attempt < startAttempts && strings.Contains(err.Error(), "Address already in use") {
			continue
		}
		return nil, err
	}
}

func startOnce(ctx context.Context, java, libs, dir string, opts Options) (*Broker, error) {
	ports, err := FreePorts(2)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	properties := filepath.Join(dir, "server.properties")
	log4j := filepath.Join(dir, "log4j2.yaml")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder for Kafka: %w", err)
	}
	for path, text := range map[string]string{
		properties: settings(ports[0], ports[1], data, opts),
		log4j:      log4jSettings,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, fmt.Errorf("settings of Kafka: %w", err)
		}
	}
	common := []string{"-cp", filepath.Join(libs, "*"), "-Dlog4j2.configurationFile=" + log4j}
	if !exists(filepath.Join(data, "meta.properties")) {
		args := append(common, "-XX:TieredStopAtLevel=1", "kafka.tools.StorageTool", "format", "-t", clusterID(), "-c", properties)
		if out, err := exec.CommandContext(ctx, java, args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("format Kafka's storage in %s: %w\n%s", data, err, LastLines(WithoutFrames(string(out)), 12))
		}
	}
	b := &Broker{addr: ports[0], dir: dir, opts: opts}
	b.argv = append([]string{java, "-Xmx" + opts.Heap}, opts.JVM...)
	b.argv = append(b.argv, common...)
	b.argv = append(b.argv, "kafka.Kafka", properties)
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// External is a broker that was started elsewhere. Stop leaves it running.
func External(addr string) *Broker { return &Broker{addr: addr} }

// Addr is the broker's host:port, for bootstrap.servers. It stays the same over
// restarts.
func (b *Broker) Addr() string { return b.addr }

// LogFile is where the broker writes its warnings and errors.
func (b *Broker) LogFile() string { return filepath.Join(b.dir, "kafka.log") }

// Stop ends the broker in an orderly way and keeps its data. A broker that is
// stopped already stays so.
func (b *Broker) Stop() error {
	if b.proc == nil {
		return nil
	}
	p := b.proc
	b.proc = nil
	return p.Term(stopPatience)
}

// Kill ends the broker as kill -9 does and keeps what it had written.
func (b *Broker) Kill() error {
	if b.proc == nil {
		return nil
	}
	p := b.proc
	b.proc = nil
	return p.Kill()
}

// Restart stops the broker if it runs and starts it again with the same data and
// the same address.
func (b *Broker) Restart(ctx context.Context) error {
	switch {
	case b.dir == "":
		return fmt.Errorf("the broker at %s was started elsewhere and cannot be restarted from here", b.addr)
	case b.opts.RemoveAtEnd:
		return errors.New("a broker whose folder is removed at the end cannot be restarted")
	}
	if err := b.Stop(); err != nil {
		return err
	}
	return b.run(ctx)
}

// run starts the JVM and waits until it answers.
func (b *Broker) run(ctx context.Context) error {
	logFile, err := os.Create(b.LogFile())
	if err != nil {
		return fmt.Errorf("log of Kafka: %w", err)
	}
	defer func() { _ = logFile.Close() }() // the child has its own descriptor
	remove := ""
	if b.opts.RemoveAtEnd {
		remove = b.dir
	}
	p, err := StartProcess(b.argv, logFile, remove)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if err := awaitReady(ctx, b.addr, p.Exited); err != nil {
		text, _ := os.ReadFile(b.LogFile()) // before kill, which may remove it
		_ = p.Kill()
		return fmt.Errorf("start Kafka at %s: %w\n%s", b.addr, err, LastLines(WithoutFrames(string(text)), 12))
	}
	b.proc = p
	return nil
}

// awaitReady asks for metadata until the broker names a live broker and a
// controller: an open port alone says little.
func awaitReady(ctx context.Context, addr string, exited func() bool) error {
	cl, err := adminClient(addr)
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	for {
		m, err := ask(ctx, adm)
		if err == nil && len(m.Brokers) > 0 && m.Controller >= 0 {
			return nil
		}
		if exited() {
			return errors.New("it ended before it answered")
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("no answer: %w", ctx.Err()), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func ask(ctx context.Context, adm *kadm.Client) (kadm.Metadata, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return adm.BrokerMetadata(ctx)
}
