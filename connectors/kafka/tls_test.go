package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/embed"
	"github.com/twmb/franz-go/pkg/kfake"
)

// selfSigned makes a certificate for name and its key, in PEM.
func selfSigned(t *testing.T, name string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	kd, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: kd}))
}

func TestTLS(t *testing.T) {
	t.Parallel()
	cert, key := selfSigned(t, "elsewhere")
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM([]byte(cert))
	b, err := embed.StartWith(kfake.SeedTopics(1, "t"), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	trust := filepath.Join(t.TempDir(), "trust.pem")
	if err := os.WriteFile(trust, []byte(cert), 0o600); err != nil {
		t.Fatal(err)
	}
	mine := []string{"properties.security.protocol", "SSL", "properties.ssl.truststore.type", "PEM", "properties.ssl.truststore.location", trust,
		"properties.ssl.keystore.certificate.chain", cert, "properties.ssl.keystore.key", key}
	// The certificate is not for this host: Java's empty algorithm looks at the chain alone.
	open(t, table(b.Addr(), append(mine, "properties.ssl.endpoint.identification.algorithm", "")...), nil)
	_, _, err = tryOpen(table(b.Addr(), mine...), nil)
	wantError(t, time.Now(), err, "x509", "properties.ssl")
	other, _ := selfSigned(t, "other")
	_, _, err = tryOpen(table(b.Addr(), append(mine, "properties.ssl.truststore.location", "-", "properties.ssl.truststore.certificates", other, "properties.ssl.endpoint.identification.algorithm", "")...), nil)
	wantError(t, time.Now(), err, "x509", "properties.ssl")
	for _, bad := range [][]string{
		{"properties.ssl.truststore.location", "/no/such/file"}, {"properties.ssl.truststore.certificates", "JKS", "properties.ssl.truststore.location", "-"},
		{"properties.ssl.keystore.key", "nonsense"},
	} {
		if _, _, err := tryOpen(table(b.Addr(), append(mine, bad...)...), nil); err == nil || strings.Contains(err.Error(), "reach") {
			t.Errorf("%v: %v", bad[:2], err)
		}
	}
}
