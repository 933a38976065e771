package secret

import (
	"strings"
	"testing"
)

// What is shown of a value tells everything but the secret.
func TestValue(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"topic", "orders", "orders"},
		{"my.password", "x", Mask},
		{"properties.sasl.jaas.config", "a\nb", Mask},
		{"my.password", "", ""},
		{"url", "https://user:pa55@host:1/p", "https://user:******@host:1/p"},
		{"url", "https://user:p@/%5f:w d@host", "https://user:******@host"},
		{"url", "https://:pa55@host", "https://:******@host"},
		{"url", "https://me@corp:pa55@host", "https://me@corp:******@host"},
		{"url", "jdbc:postgresql://h:5432/db?user=u&password=p?w#x&ssl=true", "jdbc:postgresql://h:5432/db?user=u&password=******&ssl=true"},
		{"url", "jdbc:sqlserver://h;user=u;password=p&w;encrypt=true", "jdbc:sqlserver://h;user=u;password=******;encrypt=true"},
		{"urls", "http://u:p@h1:9200,http://v:q@h2:9200;http://h3", "http://u:******@h1:9200,http://v:******@h2:9200;http://h3"},
		{"urls", "http://h1:8081/a,http://h2:8082/b", "http://h1:8081/a,http://h2:8082/b"},
		{"url", "ssh://git@host:22/x", "ssh://git@host:22/x"},
		{"servers", "user:pa55@host:1", "user:******@host:1"},
		{"dsn", "user:pa/55@tcp(host:3306)/db", "user:******@tcp(host:3306)/db"},
		{"dsn", "host=h user=u password=pa55 dbname=d", "host=h user=u password=****** dbname=d"},
		{"dsn", `host=h password='pa\' 55' dbname=d`, "host=h password='******' dbname=d"},
		{"login", "m required\n username=\"u\"\n password=\"pa\\\" 55\";", "m required\n username=\"u\"\n password=\"******\";"},
		{"json", `{"user": "u", "password": "pa55"}`, `{"user": "u", "password": "******"}`},
		{"chain", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----******-----END PRIVATE KEY-----\n"},
		{"path", "/data/a:b@c", "/data/a:b@c"},
		{"offsets", "partition:0,offset:42", "partition:0,offset:42"},
		{"url", "https://user:****@host", "https://user:****@host"},
	} {
		if got := Value(c.name, c.value); got != c.want {
			t.Errorf("%s = %s: got %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

// Messages keep what is no address of a kind that holds a password.
func TestText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`Get "https://u:p'w@h/x?api.key=k": dial tcp: refused`, `Get "https://u:p'w@h/x?api.key=k": dial tcp: refused`},
		{`Get "https://u:pa55@h/x?api_key=k&v=1": dial tcp: refused`, `Get "https://u:******@h/x?api_key=******&v=1": dial tcp: refused`},
		{`found 'https://u:it''s@h', and https://v:\"@h`, `found 'https://u:******@h', and https://v:******@h`},
		{`{"m":"http://h?a=b\u0026password=x\u0026c=d"}`, `{"m":"http://h?a=b\u0026password=******\u0026c=d"}`},
		{"found 'https://u:pa5…', https://h:8080… and https://h:80/p…", "found 'https://u:******…', https://h:8080… and https://h:80/p…"},
		{"http://h:80/ and a@b, user:name@host, token = 'x'", "http://h:80/ and a@b, user:name@host, token = 'x'"},
	} {
		if got := Text(c.text); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

// The masks of SQL stand where the secrets stand, whatever quotation marks are around them.
func TestInSQL(t *testing.T) {
	const src = `CREATE TABLE t (a INT) WITH ('x' = 'https://u:it''s@h''s', 'y' = 'm password=''a'' ''b''', 'password' = 'it''s'); SELECT 'c:d@e', 'f://g:h@i';`
	const want = `CREATE TABLE t (a INT) WITH ('x' = 'https://u:******@h''s', 'y' = 'm password=''******'' ''b''', 'password' = '******'); SELECT 'c:d@e', 'f://g:h@i';`
	if got := Hide(src, InSQL(src)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got := Hide(src, InMistakes(src))
	for _, hidden := range []string{"it", "''a''", "c:d@e", "g:h@i"} {
		if strings.Contains(got, hidden) != (hidden == "c:d@e") {
			t.Errorf("with mistakes: got\n%s", got)
		}
	}
}

// FuzzValue: whatever a password is, nothing of it is shown, masking twice masks nothing more, and a text without an
// address stays what it is.
func FuzzValue(f *testing.F) {
	for _, s := range []string{"pa55", "p@/?#:%40 x", `"'\`, "a,b;c|d", "1/", "…", "\n&"} {
		f.Add("user", s)
	}
	f.Fuzz(func(t *testing.T, user, password string) {
		const begin, end = "⟨", "⟩" // so that it can be told from what is around it
		if strings.ContainsAny(user, ":/?# \t\r\n\v\f") || strings.Contains(password, "://") || strings.ContainsAny(user+password, begin+end) {
			t.Skip()
		}
		secret := begin + password + end
		for _, value := range []string{
			"https://" + user + ":" + secret + "@host/path",
			"https://host/path?a=b&password=" + strings.ReplaceAll(secret, "&", "%26") + "&c=d",
			`m required password="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(secret) + `" x="y";`,
			"jdbc:x://host/db?user=u&sslpassword=" + strings.ReplaceAll(secret, "&", ""),
		} {
			shown := Value("url", value)
			if strings.Contains(shown, begin) || strings.Contains(shown, end) || !strings.Contains(shown, Mask) {
				t.Errorf("%q is shown as %q", value, shown)
			}
			if again := Value("url", shown); again != shown {
				t.Errorf("%q is masked again, as %q", shown, again)
			}
			if named := Value("password", value); named != Mask {
				t.Errorf("%q is shown as %q", value, named)
			}
			src := "WITH ('url' = '" + strings.ReplaceAll(value, "'", "''") + "', 'x' = 'y')"
			if places := InSQL(src); Hide(src, places) != "WITH ('url' = '"+strings.ReplaceAll(shown, "'", "''")+"', 'x' = 'y')" {
				t.Errorf("%q is shown as %q", src, Hide(src, places))
			}
		}
		if plain := user + " " + password; !strings.Contains(plain, "://") && !strings.Contains(plain, "PRIVATE KEY") && Text(plain) != plain {
			t.Errorf("%q is shown as %q", plain, Text(plain))
		}
		once := Text(user + password)
		if again := Text(once); again != once {
			t.Errorf("%q is masked again, as %q", once, again)
		}
	})
}
