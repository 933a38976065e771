package realkafka

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
)

// settings are the lines of server.properties. Everything that is made per
// partition or per replica is as small as one node allows, and nothing waits for
// further members, so that a broker is ready in seconds.
func settings(brokerAddr, controllerAddr, dataDir string, opts Options) string {
	listeners := strings.Join(append([]string{"PLAINTEXT://" + brokerAddr, "CONTROLLER://" + controllerAddr}, opts.Listeners...), ",")
	p := map[string]string{
		"process.roles":                                    "broker,controller",
		"node.id":                                          "1",
		"controller.quorum.voters":                         "1@" + controllerAddr,
		"listeners":                                        listeners,
		"advertised.listeners":                             listeners,
		"controller.listener.names":                        "CONTROLLER",
		"inter.broker.listener.name":                       "PLAINTEXT",
		"listener.security.protocol.map":                   "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"log.dirs":                                         dataDir,
		"num.network.threads":                              "2",
		"num.io.threads":                                   "4",
		"num.partitions":                                   "4",
		"offsets.topic.replication.factor":                 "1",
		"offsets.topic.num.partitions":                     "4",
		"transaction.state.log.replication.factor":         "1",
		"transaction.state.log.min.isr":                    "1",
		"transaction.state.log.num.partitions":             "4",
		"share.coordinator.state.topic.replication.factor": "1",
		"share.coordinator.state.topic.min.isr":            "1",
		"share.coordinator.state.topic.num.partitions":     "1",
		"group.initial.rebalance.delay.ms":                 "0",
		"log.retention.hours":                              "240",
		"log.segment.bytes":                                "268435456",
		"auto.create.topics.enable":                        "false",
	}
	maps.Copy(p, opts.Properties)
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s=%s\n", k, p[k])
	}
	return b.String()
}

const log4jSettings = `Configuration:
  Appenders:
    Console: {name: C, PatternLayout: {pattern: "[%d] %p %m (%c)%n"}}
  Loggers:
    Root: {level: WARN, AppenderRef: [{ref: C}]}
`

// clusterID makes an id in Kafka's form: 16 random bytes in base64.
func clusterID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	id[0] &= 0x3f        // a leading '-' would read as a flag
	return base64.RawURLEncoding.EncodeToString(id)
}

// Servers listen on ports that systems do not give to outgoing connections (Linux gives those from 32768 on, others
// from 49152 on): a client could hold one of these when the server is started again.
const (
	firstServerPort = 10_000
	serverPorts     = 20_000
)

// FreePorts returns n loopback ports that nobody listens on. They are held until
// all are known, so that they differ; another program may still take one before
// the server does, which is why Start tries more than once.
func FreePorts(n int) ([]string, error) {
	var addrs []string
	for tries := 0; len(addrs) < n; tries++ {
		addr := "127.0.0.1:" + strconv.Itoa(firstServerPort+mathrand.IntN(serverPorts))
		l, err := net.Listen("tcp", addr)
		if err == nil {
			defer func() { _ = l.Close() }()
			addrs = append(addrs, addr)
		} else if tries > 100*n {
			return nil, fmt.Errorf("free port: %w", err)
		}
	}
	return addrs, nil
}
