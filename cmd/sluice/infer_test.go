package main

import "testing"

// What is secret elsewhere is a variable in the statement that infer prints, and a path stays a path.
func TestPropertiesThatInferHides(t *testing.T) {
	for name, want := range map[string]string{
		"sasl.jaas.config":           "${SASL_JAAS_CONFIG}",
		"ssl.keystore.key":           "${SSL_KEYSTORE_KEY}",
		"ssl.truststore.password":    "${SSL_TRUSTSTORE_PASSWORD}",
		"sasl.oauthbearer.token-url": "${SASL_OAUTHBEARER_TOKEN_URL}",
		"ssl.keystore.location":      "v",
		"client.id":                  "v",
	} {
		if got := hideSecret(name, "v"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := hideSecret("client.id", "https://u:v@h"); got != "${CLIENT_ID}" {
		t.Errorf("an address: %s", got)
	}
}
