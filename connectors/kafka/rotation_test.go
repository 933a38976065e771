package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// dropListener can close all connections that it has accepted.
type dropListener struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (l *dropListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		l.conns = append(l.conns, c)
		l.mu.Unlock()
	}
	return c, err
}

func (l *dropListener) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// goesOn writes a record through a sink and waits for it at a source, both open since before.
func goesOn(t *testing.T, src spi.Source, s spi.Sink, tb *spi.Table, id int64) {
	t.Helper()
	if err := s.Writer(0).Write(t.Context(), batchOf(change{0, id, "x"})); err != nil {
		t.Fatal(err)
	}
	barrier(t, s.Writer(0), uint64(id))
	if got := read(t, src.Reader(0), tb, 1); got[0] != fmt.Sprintf("+I[%d, x]", id) {
		t.Errorf("read %v", got)
	}
}

// TestCertificatesReplaced replaces the broker's certificate, the one that it trusts clients by, and the files of a
// running source and sink; then every connection breaks.
func TestCertificatesReplaced(t *testing.T) {
	t.Parallel()
	var serving atomic.Pointer[tls.Config]
	dir := t.TempDir()
	trust, store := filepath.Join(dir, "trust.pem"), filepath.Join(dir, "store.pem")
	replace := func(files bool) {
		cert, key := selfSigned(t, "localhost")
		pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		clients := x509.NewCertPool()
		clients.AppendCertsFromPEM([]byte(cert))
		if files {
			write(t, trust, cert)
			write(t, store, cert+key)
		}
		serving.Store(&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients})
	}
	replace(true)
	l := &dropListener{}
	b, err := embed.StartWith(kfake.SeedTopics(1, "t"), kfake.ListenFn(func(network, address string) (net.Listener, error) {
		inner, err := net.Listen(network, address)
		l.Listener = inner
		return tls.NewListener(l, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return serving.Load(), nil }}), err
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	tb := table(b.Addr(), "properties.security.protocol", "SSL", "properties.ssl.truststore.location", trust, "properties.ssl.keystore.location", store,
		"properties.ssl.endpoint.identification.algorithm", "")
	src, _ := open(t, tb, nil)
	s, _ := openWriter(t, tb, spi.AppendOnly, 1)
	goesOn(t, src, s, tb, 1)
	for id := int64(2); id < 5; id++ {
		replace(true)
		l.drop()
		goesOn(t, src, s, tb, id)
	}
	// Files that come late: until then the connection is refused and tried again.
	replace(false)
	l.drop()
	time.Sleep(300 * time.Millisecond)
	replace(true)
	goesOn(t, src, s, tb, 5)
}

// TestPasswordReplaced changes a password in the broker and in the file.
func TestPasswordReplaced(t *testing.T) {
	t.Parallel()
	l := &dropListener{}
	b, err := embed.StartWith(kfake.SeedTopics(1, "t"), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "admin", "first"), kfake.Superuser("SCRAM-SHA-256", "u", "first"),
		kfake.ListenFn(func(network, address string) (net.Listener, error) {
			inner, err := net.Listen(network, address)
			l.Listener = inner
			return l, err
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	file := filepath.Join(t.TempDir(), "password")
	write(t, file, "first\n")
	sasl := func(user, pass string) []string {
		return []string{"properties.security.protocol", "SASL_PLAINTEXT", "properties.sasl.mechanism", "SCRAM-SHA-256", "properties.sasl.jaas.config",
			fmt.Sprintf(`org.apache.kafka.common.security.scram.ScramLoginModule required username="%s" %s;`, user, pass)}
	}
	tb := table(b.Addr(), sasl("u", fmt.Sprintf("passwordFile=%q", file))...)
	src, _ := open(t, tb, nil)
	s, _ := openWriter(t, tb, spi.AppendOnly, 1)
	goesOn(t, src, s, tb, 1)

	settings, err := parseProperties(table(b.Addr(), sasl("admin", `password="first"`)...).Options)
	if err != nil {
		t.Fatal(err)
	}
	opts, err := settings.clientOptions()
	if err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	setPassword := func(pass string) {
		rs, err := kadm.NewClient(cl).AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{{User: "u", Mechanism: kadm.ScramSha256, Iterations: 4096, Password: pass}})
		if err != nil || rs.Error() != nil {
			t.Fatal(err, rs.Error())
		}
	}
	setPassword("second")
	write(t, file, "second")
	l.drop()
	goesOn(t, src, s, tb, 2)

	setPassword("third")
	l.drop()
	time.Sleep(300 * time.Millisecond)
	write(t, file, "third")
	goesOn(t, src, s, tb, 3)

	// A file that is not there, when the table is opened.
	_, _, err = tryOpen(table(b.Addr(), sasl("u", `passwordFile="/no/such/file"`)...), nil)
	wantError(t, time.Now(), err, "properties.sasl.jaas.config", "passwordFile", "/no/such/file")
}
