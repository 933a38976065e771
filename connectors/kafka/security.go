package kafka

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// security is what the security.*, sasl.* and ssl.* properties say.
type security struct {
	protocol  string // PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL
	mechanism string
	jaas      map[string]string

	noHostname                bool
	minVersion, maxVersion    uint16
	trustFile, trustCerts     string
	trustType, keyType        string
	keyFile, keyChain, keyPEM string
}

var securityProperties = map[string]property{
	"security.protocol": {set: func(s *settings, v string) (err error) {
		s.security.protocol, err = oneOf(v, "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
		return err
	}},
	"sasl.mechanism": {set: func(s *settings, v string) (err error) {
		if strings.EqualFold(v, "GSSAPI") {
			return errors.New("cannot be GSSAPI: Kerberos is not available in this version; use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER")
		}
		s.security.mechanism, err = oneOf(v, "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
		return err
	}},
	"sasl.jaas.config": {set: func(s *settings, v string) (err error) { s.security.jaas, err = parseJAAS(v); return err }},

	"ssl.endpoint.identification.algorithm": {set: func(s *settings, v string) error {
		switch strings.ToLower(v) {
		case "https":
		case "":
			s.security.noHostname = true
		default:
			return fmt.Errorf("wants https or the empty string, got %q", v)
		}
		return nil
	}},
	"ssl.protocol":                     {set: func(_ *settings, v string) error { _, err := oneOf(v, "TLS", "TLSv1.2", "TLSv1.3"); return err }},
	"ssl.enabled.protocols":            {set: setTLSVersions},
	"ssl.truststore.type":              {set: func(s *settings, v string) error { return setStoreType(&s.security.trustType, v) }},
	"ssl.truststore.location":          {set: textOf(func(s *settings) *string { return &s.security.trustFile })},
	"ssl.truststore.certificates":      {set: textOf(func(s *settings) *string { return &s.security.trustCerts })},
	"ssl.truststore.password":          {note: "is ignored: PEM trust stores have no password"},
	"ssl.keystore.type":                {set: func(s *settings, v string) error { return setStoreType(&s.security.keyType, v) }},
	"ssl.keystore.location":            {set: textOf(func(s *settings) *string { return &s.security.keyFile })},
	"ssl.keystore.certificate.chain":   {set: textOf(func(s *settings) *string { return &s.security.keyChain })},
	"ssl.keystore.key":                 {set: textOf(func(s *settings) *string { return &s.security.keyPEM })},
	"ssl.keystore.password":            {note: "is ignored: PEM key stores have no password"},
	"ssl.key.password":                 {refuse: "is not available in this version: give the key unencrypted (openssl pkcs8 -in key.pem -out plain.pem)"},
	"ssl.provider":                     {note: noteJava},
	"ssl.keymanager.algorithm":         {note: noteJava},
	"ssl.trustmanager.algorithm":       {note: noteJava},
	"ssl.secure.random.implementation": {note: noteJava},
	"sasl.kerberos.service.name":       {refuse: "is not available in this version: Kerberos is not supported"},
}

// WithoutCredentials are the options of a table but for those that say how a broker is to be convinced, or has to convince:
// for one that takes everybody.
func WithoutCredentials(o spi.Options) spi.Options {
	out := spi.Options{}
	for name, v := range o {
		if p, ok := strings.CutPrefix(name, propertyPrefix); ok && (strings.HasPrefix(p, "security.") || strings.HasPrefix(p, "sasl.") || strings.HasPrefix(p, "ssl.")) {
			continue
		}
		out[name] = v
	}
	return out
}

func textOf(field func(*settings) *string) func(*settings, string) error {
	return func(s *settings, v string) error { *field(s) = v; return nil }
}

func setStoreType(field *string, v string) error {
	if !strings.EqualFold(v, "PEM") {
		return fmt.Errorf("wants PEM, got %q; convert a Java store with: keytool -importkeystore … -deststoretype PKCS12, then openssl pkcs12 -in … -out store.pem -nodes", v)
	}
	*field = "PEM"
	return nil
}

func setTLSVersions(s *settings, v string) error {
	s.security.minVersion, s.security.maxVersion = tls.VersionTLS13, tls.VersionTLS12
	for _, p := range strings.Split(v, ",") {
		p, err := oneOf(strings.TrimSpace(p), "TLSv1.2", "TLSv1.3")
		if err != nil {
			return err
		}
		version := uint16(tls.VersionTLS13)
		if p == "TLSv1.2" {
			version = tls.VersionTLS12
		}
		s.security.minVersion = min(s.security.minVersion, version)
		s.security.maxVersion = max(s.security.maxVersion, version)
	}
	return nil
}

// parseJAAS reads `class required name="value" …;` and returns the values by name, with the class's last
// part under "".
func parseJAAS(v string) (map[string]string, error) {
	bad := func(what string) error {
		return fmt.Errorf("cannot be read: %s; it looks like: org.apache.kafka.common.security.plain.PlainLoginModule required username=\"…\" password=\"…\";", what)
	}
	class, rest := firstWord(v)
	flag, rest := firstWord(rest)
	if flag == "" {
		return nil, bad("a login module and a control flag are expected")
	}
	if !strings.EqualFold(flag, "required") {
		return nil, bad("the control flag must be 'required'")
	}
	out := map[string]string{"": class[strings.LastIndexByte(class, '.')+1:]}
	for rest = strings.TrimSpace(rest); rest != "" && rest != ";"; rest = strings.TrimSpace(rest) {
		name, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, bad("an option without '='")
		}
		after = strings.TrimSpace(after)
		var value strings.Builder
		i := 0
		if after != "" && (after[0] == '"' || after[0] == '\'') {
			quote := after[0]
			for i = 1; i < len(after) && after[i] != quote; i++ {
				if after[i] == '\\' && i+1 < len(after) {
					i++
				}
				value.WriteByte(after[i])
			}
			if i == len(after) {
				return nil, bad("a quote is not closed")
			}
			i++
		} else {
			for ; i < len(after) && !unicode.IsSpace(rune(after[i])) && after[i] != ';'; i++ {
				value.WriteByte(after[i])
			}
		}
		out[strings.TrimSpace(name)] = value.String()
		rest = after[i:]
	}
	if rest == "" {
		return nil, bad("the closing ';' is missing")
	}
	return out, nil
}

// firstWord cuts s behind its first word.
func firstWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func (s *security) usesSASL() bool { return strings.HasPrefix(s.protocol, "SASL_") }
func (s *security) usesTLS() bool  { return strings.HasSuffix(s.protocol, "SSL") }

// check finds what is missing or contradicts itself.
func (s *security) check() error {
	blame := func(name, msg string) error {
		return &spi.OptionError{Name: propertyPrefix + name, Msg: fmt.Sprintf("option %q: %s", propertyPrefix+name, msg)}
	}
	if !s.usesSASL() {
		if s.mechanism != "" {
			return blame("sasl.mechanism", "has no effect without 'properties.security.protocol' = 'SASL_SSL' or 'SASL_PLAINTEXT'")
		}
		return nil
	}
	if s.mechanism == "" {
		return blame("sasl.mechanism", "is missing; with SASL_* say PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER (Java's default, GSSAPI, is not available)")
	}
	if s.jaas == nil {
		return blame("sasl.jaas.config", "is missing; it carries the credentials")
	}
	needs := []string{"username", "password"}
	if s.mechanism == "OAUTHBEARER" {
		needs = []string{"token"}
	}
	for _, name := range needs {
		_, inline := s.jaas[name]
		_, file := s.jaas[name+fileSuffix]
		switch {
		case inline && file:
			return blame("sasl.jaas.config", fmt.Sprintf("has both %s and %s%s", name, name, fileSuffix))
		case !inline && !file:
			return blame("sasl.jaas.config", fmt.Sprintf(`has no %s="…" and no %s%s="…", which names a file that holds it`, name, name, fileSuffix))
		}
	}
	return nil
}

// fileSuffix makes a credential's name that of the file it is in.
const fileSuffix = "File"

// credential is a value of the JAAS configuration, or the content of the file that it names. Files are read for each
// connection, so that what is replaced in them is used without a restart.
func (s *security) credential(name string) (string, error) {
	file, ok := s.jaas[name+fileSuffix]
	if !ok {
		return s.jaas[name], nil
	}
	b, err := os.ReadFile(file)
	if err == nil && len(bytes.TrimSpace(b)) == 0 {
		err = fmt.Errorf("%s is empty", file)
	}
	if err != nil {
		return "", &spi.OptionError{Name: propertyPrefix + "sasl.jaas.config", Msg: fmt.Sprintf("option %q, %s%s: %v", propertyPrefix+"sasl.jaas.config", name, fileSuffix, err)}
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

func (s *security) user() (user, password string, err error) {
	if user, err = s.credential("username"); err == nil {
		password, err = s.credential("password")
	}
	return user, password, err
}

// options are the client's. What files hold is checked here for the first time.
func (s *security) options(dialTimeout time.Duration) ([]kgo.Opt, error) {
	var opts []kgo.Opt
	if s.usesSASL() {
		for name := range s.jaas {
			if name, ok := strings.CutSuffix(name, fileSuffix); ok {
				if _, err := s.credential(name); err != nil {
					return nil, err
				}
			}
		}
		opts = append(opts, kgo.SASL(s.mechanismOf()))
	}
	if s.usesTLS() {
		if _, err := s.tlsConfig(); err != nil {
			return nil, err
		}
		opts = append(opts, kgo.Dialer(s.dialTLS(dialTimeout)))
	}
	return opts, nil
}

// dialTLS makes connections with the certificates that the files hold at the moment.
func (s *security) dialTLS(timeout time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := s.tlsConfig()
		if err != nil {
			return nil, err
		}
		if c.ServerName, _, err = net.SplitHostPort(addr); err != nil {
			return nil, err
		}
		d := tls.Dialer{NetDialer: &net.Dialer{Timeout: timeout}, Config: c}
		return d.DialContext(ctx, network, addr)
	}
}

func (s *security) mechanismOf() sasl.Mechanism {
	scramAuth := func(context.Context) (scram.Auth, error) {
		user, password, err := s.user()
		return scram.Auth{User: user, Pass: password, IsToken: s.jaas["tokenauth"] == "true"}, err
	}
	switch s.mechanism {
	case "PLAIN":
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			user, password, err := s.user()
			return plain.Auth{User: user, Pass: password}, err
		})
	case "SCRAM-SHA-256":
		return scram.Sha256(scramAuth)
	case "SCRAM-SHA-512":
		return scram.Sha512(scramAuth)
	}
	return oauth.Oauth(func(context.Context) (oauth.Auth, error) {
		token, err := s.credential("token")
		return oauth.Auth{Token: token}, err
	})
}

func (s *security) tlsConfig() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.minVersion != 0 {
		c.MinVersion, c.MaxVersion = s.minVersion, s.maxVersion
	}
	trust, err := pemOf("ssl.truststore.location", s.trustFile, s.trustCerts)
	if err != nil {
		return nil, err
	}
	if trust != nil {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(trust) {
			return nil, &spi.OptionError{Name: propertyPrefix + "ssl.truststore.location", Value: true, Msg: "the trust store holds no PEM certificate; Java's JKS and PKCS12 stores must be converted to PEM"}
		}
	}
	if s.noHostname {
		// The chain is still verified, only the name is not: that is what Java does with an empty algorithm.
		c.InsecureSkipVerify = true
		roots := c.RootCAs
		c.VerifyConnection = func(st tls.ConnectionState) error {
			o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
			for _, i := range st.PeerCertificates[1:] {
				o.Intermediates.AddCert(i)
			}
			_, err := st.PeerCertificates[0].Verify(o)
			return err
		}
	}
	store, err := pemOf("ssl.keystore.location", s.keyFile, s.keyChain+"\n"+s.keyPEM)
	if err != nil {
		return nil, err
	}
	if store != nil {
		cert, err := tls.X509KeyPair(store, store)
		if err != nil {
			return nil, &spi.OptionError{Name: propertyPrefix + "ssl.keystore.location", Value: true, Msg: fmt.Sprintf("the key store must hold an unencrypted private key and its certificates in PEM: %v", err)}
		}
		c.Certificates = []tls.Certificate{cert}
	}
	return c, nil
}

// pemOf is the PEM text of a store: a file's, or the inline one.
func pemOf(name, file, inline string) ([]byte, error) {
	if file == "" {
		if strings.TrimSpace(inline) == "" {
			return nil, nil
		}
		return []byte(inline), nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, &spi.OptionError{Name: propertyPrefix + name, Value: true, Msg: fmt.Sprintf("option %q: %v", propertyPrefix+name, err)}
	}
	if block, _ := pem.Decode(b); block == nil {
		return nil, &spi.OptionError{Name: propertyPrefix + name, Value: true, Msg: fmt.Sprintf("option %q: %s is not PEM; Java's JKS and PKCS12 stores must be converted", propertyPrefix+name, file)}
	}
	return b, nil
}
