package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// service is an environment's Service with its ConfigMap.
func service(namespace, image, memory, level string) string {
	return fmt.Sprintf(`apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: web, namespace: %[1]s}
spec:
  template:
    metadata: {name: web-%[2]s}
    spec:
      containers:
        - {name: web, image: "web:%[2]s", resources: {limits: {memory: %[3]s}}, envFrom: [{configMapRef: {name: settings-2456789bcd}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings-2456789bcd, namespace: %[1]s}
data: {level: %[4]s}
`, namespace, image, memory, level)
}

func TestDrift(t *testing.T) {
	t.Parallel()
	const job = "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: clean, namespace: %s}\n"
	staging := func(memory, level string) string { return service("staging", "v2", memory, level) }
	production := func(memory, level string) string { return service("production", "v1", memory, level) }
	for name, test := range map[string]struct{ then, now, here, want string }{
		"nothing changed":           {staging("1Gi", "info"), staging("1Gi", "info"), production("4Gi", "warn"), ""},
		"another image":             {service("staging", "v1", "1Gi", "info"), staging("1Gi", "info"), production("1Gi", "info"), ""},
		"a limit":                   {staging("1Gi", "info"), staging("2Gi", "info"), production("1Gi", "info"), "serving.knative.dev/Service web spec.template.spec.containers[web].resources.limits.memory: 1Gi -> 2Gi\n"},
		"a limit that is here too":  {staging("1Gi", "info"), staging("2Gi", "info"), production("2Gi", "info"), ""},
		"data of a ConfigMap":       {staging("1Gi", "info"), strings.ReplaceAll(staging("1Gi", "debug"), "2456789bcd", "bcdfghkmt2"), production("1Gi", "info"), "ConfigMap settings data.level: info -> debug\n"},
		"an object":                 {staging("1Gi", "info"), staging("1Gi", "info") + fmt.Sprintf(job, "staging"), production("1Gi", "info"), "batch/CronJob clean added\n"},
		"an object that is here":    {staging("1Gi", "info"), staging("1Gi", "info") + fmt.Sprintf(job, "staging"), production("1Gi", "info") + fmt.Sprintf(job, "production"), ""},
		"an object that is gone":    {staging("1Gi", "info") + fmt.Sprintf(job, "staging"), staging("1Gi", "info"), production("1Gi", "info") + fmt.Sprintf(job, "production"), "batch/CronJob clean removed\n"},
		"an object nobody has left": {staging("1Gi", "info") + fmt.Sprintf(job, "staging"), staging("1Gi", "info"), production("1Gi", "info"), ""},
	} {
		var got strings.Builder
		for _, o := range Drift([]byte(test.then), []byte(test.now), []byte(test.here)) {
			if o.Change != Changed {
				fmt.Fprintf(&got, "%s %s\n", o.Name, o.Change)
			}
			for _, f := range o.Fields {
				fmt.Fprintf(&got, "%s %s: %s -> %s\n", o.Name, f.Path, f.Before, f.After)
			}
		}
		if got.String() != test.want {
			t.Errorf("%s: drift\n%s, want\n%s", name, got.String(), test.want)
		}
	}
}
