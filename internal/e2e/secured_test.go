package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/realkafka"
)

const (
	securedPage = "../../docs/howto/secured-kafka.md"
	password    = "it's=; a,secret"
)

// securedTable is a table of the page.
var securedTable = regexp.MustCompile("(?ms)^```sql alone\n(.*?)^```$")

// securedCopy copies the page's table into a topic, which it creates.
const securedCopy = `
CREATE TABLE copied WITH ('topic' = '$OUT', 'sink.topic.partitions' = '1', 'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'secured') LIKE users (OVERWRITING OPTIONS);
INSERT INTO copied SELECT id, name FROM users /*+ OPTIONS('scan.bounded.mode' = 'latest-offset', 'properties.group.id' = 'readers') */;
`

// plainCopy does so at least once, into a topic that is there.
const plainCopy = `
CREATE TABLE copied WITH ('topic' = '$OUT') LIKE users (OVERWRITING OPTIONS);
INSERT INTO copied SELECT id, name FROM users /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */;
`

// right is a right that the page tells of.
type right struct {
	of   string // topic, group or transactional id
	name string
	op   kadm.ACLOperation
}

func (r right) builder(user string) *kadm.ACLBuilder {
	b := kadm.NewACLs().Allow(user).AllowHosts("*").Operations(r.op).ResourcePatternType(kadm.ACLPatternLiteral)
	switch r.of {
	case "topic":
		return b.Topics(r.name)
	case "group":
		return b.Groups(r.name)
	}
	return b.TransactionalIDs(r.name)
}

// TestSecuredKafka goes through each table of the page on secured Kafka, as a user who holds the rights of
// the page alone, and then with one right less each time.
func TestSecuredKafka(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a broker of its own; left out by -short")
	}
	kafka(t) // skips, or fails, where there is no broker
	s := startSecured(t)
	page, err := os.ReadFile(securedPage)
	if err != nil {
		t.Fatal(err)
	}
	tables := securedTable.FindAllStringSubmatch(string(page), -1)
	if len(tables) != 4 {
		t.Fatalf("the page has %d tables", len(tables))
	}
	all := func(topic string) []right {
		return []right{
			{"topic", "shop.public.users", kadm.OpRead}, {"topic", topic, kadm.OpWrite}, {"topic", topic, kadm.OpCreate}, {"topic", topic, kadm.OpRead},
			{"transactional id", "secured-copied", kadm.OpWrite}, {"group", "secured-copied", kadm.OpRead}, {"group", "readers", kadm.OpRead},
		}
	}
	for _, table := range tables {
		out := realkafka.UniqueName("copy")
		p := s.copy(table[1], securedCopy, out, all(out)).exited(0)
		s.isCopy(out, p)
	}
	for i, r := range all("") {
		out := realkafka.UniqueName("copy")
		p := s.copy(tables[1][1], securedCopy, out, slices.Delete(all(out), i, i+1))
		if r.name == "readers" {
			p.exited(0).says("group readers", "offsets cannot be committed; the job goes on without")
			s.isCopy(out, p)
		} else {
			p.exited(1).says("grant", r.op.String(), r.name)
		}
	}
	out := newTopic(t, s.addr, "copy", 1)
	s.isCopy(out, s.copy(tables[1][1], plainCopy, out, all(out)[:2]).exited(0))
}

// copy runs a copy of a table of the page into a topic, by a user who has these rights.
func (s *secured) copy(table, script, out string, rights []right) *process {
	s.t.Helper()
	user, addr := "User:job", s.sasl
	if !strings.Contains(table, "SASL") {
		user, addr = "User:CN=job", s.tls
	}
	s.grant(user, rights)
	return run(s.t, fillIn(strings.ReplaceAll(table, "/etc/kafka", s.dir)+script, "OUT", out),
		"--state-dir", filepath.Join(s.t.TempDir(), "state"), "--set-var", "KAFKA_BROKERS="+addr, "--set-var", "KAFKA_USER=job", "--set-var", "KAFKA_PASSWORD="+password)
}

func (s *secured) isCopy(topic string, p *process) {
	s.t.Helper()
	if got := sumOfRetractions(s.t, s.addr, topic, "id", "name"); !slices.Equal(got, []string{"1|Egor", "2|Pavel"}) {
		s.t.Errorf("%s holds %v\n%s", topic, got, p.stderr.String())
	}
}

// secured is a broker with a plain listener, whose users may do everything, and secured ones.
type secured struct {
	t               *testing.T
	addr, tls, sasl string
	dir             string // the files of /etc/kafka on the page
	adm             *kadm.Client
}

func startSecured(t *testing.T) *secured {
	t.Helper()
	dir := t.TempDir()
	writeCertificates(t, dir)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("password", password+"\n")
	encode := base64.RawURLEncoding.EncodeToString
	now := time.Now().Unix()
	write("token", encode([]byte(`{"alg":"none"}`))+"."+encode(fmt.Appendf(nil, `{"sub":"job","iat":%d,"exp":%d}`, now, now+3600))+".\n")

	ports, err := realkafka.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	const login = "org.apache.kafka.common.security."
	b, err := realkafka.Start(t.Context(), t.TempDir(), realkafka.Options{
		Listeners: []string{"TLS://" + ports[0], "SASL://" + ports[1]},
		Properties: map[string]string{
			"listener.security.protocol.map":                    "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL,SASL:SASL_SSL",
			"ssl.keystore.type":                                 "PEM",
			"ssl.keystore.location":                             filepath.Join(dir, "broker.pem"),
			"ssl.truststore.type":                               "PEM",
			"ssl.truststore.location":                           filepath.Join(dir, "ca.pem"),
			"listener.name.tls.ssl.client.auth":                 "required",
			"listener.name.sasl.sasl.enabled.mechanisms":        "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
			"listener.name.sasl.plain.sasl.jaas.config":         login + `plain.PlainLoginModule required user_job="` + password + `";`,
			"listener.name.sasl.scram-sha-512.sasl.jaas.config": login + `scram.ScramLoginModule required;`,
			"listener.name.sasl.oauthbearer.sasl.jaas.config":   login + `oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
			"authorizer.class.name":                             "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			"super.users":                                       "User:ANONYMOUS", // that of the plain listeners
		},
	})
	if _, unavailable := err.(*realkafka.UnavailableError); unavailable {
		t.Skip(err) // the shared broker is one from elsewhere
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Kill() })
	s := &secured{t: t, addr: b.Addr(), tls: ports[0], sasl: ports[1], dir: dir}
	if s.adm, err = kadm.NewOptClient(kgo.SeedBrokers(s.addr)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.adm.Close)
	if _, err := s.adm.AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{{User: "job", Mechanism: kadm.ScramSha512, Iterations: 4096, Password: password}}); err != nil {
		t.Fatal(err)
	}
	if err := realkafka.CreateTopic(t.Context(), s.addr, "shop.public.users", 1); err != nil {
		t.Fatal(err)
	}
	produce(t, s.addr, inserted("shop.public.users", 1, `{"id":1,"name":"Egor"}`), inserted("shop.public.users", 2, `{"id":2,"name":"Pavel"}`))
	return s
}

// grant gives a user these rights and takes all others.
func (s *secured) grant(user string, rights []right) {
	s.t.Helper()
	all := kadm.NewACLs().AnyResource().Allow(user).AllowHosts().Operations().ResourcePatternType(kadm.ACLPatternAny)
	if _, err := s.adm.DeleteACLs(s.t.Context(), all); err != nil {
		s.t.Fatal(err)
	}
	for _, r := range rights {
		results, err := s.adm.CreateACLs(s.t.Context(), r.builder(user))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, res := range results {
			if res.Err != nil {
				s.t.Fatal(r, res.Err)
			}
		}
	}
}

// writeCertificates writes ca.pem, and certificates that it has signed with their keys: broker.pem for 127.0.0.1 and
// job.pem for the client CN=job.
func writeCertificates(t *testing.T, dir string) {
	t.Helper()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []*x509.Certificate{ca, {Subject: pkix.Name{CommonName: "broker"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, {Subject: pkix.Name{CommonName: "job"}}} {
		key := caKey
		if i > 0 {
			if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
				t.Fatal(err)
			}
			c.SerialNumber, c.NotAfter, c.KeyUsage = big.NewInt(int64(i+1)), ca.NotAfter, x509.KeyUsageDigitalSignature
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
		}
		der, err := x509.CreateCertificate(rand.Reader, c, ca, &key.PublicKey, caKey)
		if err != nil {
			t.Fatal(err)
		}
		keyDER, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		if i > 0 {
			text = append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), text...)
		}
		if err := os.WriteFile(filepath.Join(dir, c.Subject.CommonName+".pem"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
