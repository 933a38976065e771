package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/internal/fault"
)

// errNoValue says that a secret is empty.
var errNoValue = errors.New("it is empty")

// Resolve are the values of all secrets. Its errors say where a value was looked for, and never hold one.
func (s *Settings) Resolve() (map[string]string, error) {
	values := map[string]string{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		v, err := s.Secrets[name].value()
		if err != nil {
			errs = append(errs, fault.Errorf(fault.Secret, "the secret %s: %w", name, err))
			continue
		}
		values[name] = v
	}
	return values, errors.Join(errs...)
}

func (r Reference) value() (string, error) {
	if r.Env != "" {
		v, ok := os.LookupEnv(r.Env)
		switch {
		case !ok:
			return "", fault.Errorf(fault.Secret, "the environment has no variable %s", r.Env).Fix("set %s before sluice starts", r.Env)
		case v == "":
			return "", fmt.Errorf("the environment's variable %s: %w", r.Env, errNoValue)
		}
		return v, nil
	}
	b, err := os.ReadFile(r.File)
	if err != nil {
		return "", err
	}
	v := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	if v == "" {
		return "", fmt.Errorf("%s: %w", r.File, errNoValue)
	}
	return v, nil
}

// SecretNames are the names of the secrets of all environments, in order.
func (p *Pipeline) SecretNames() []string {
	names := maps.Clone(p.base.Secrets)
	for _, s := range p.environments {
		names = joined(names, s.Secrets)
	}
	return slices.Sorted(maps.Keys(names))
}
