package plane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
)

// prometheusName is the part, the program, and the folder of the latter.
const prometheusName = "prometheus"

// Prometheus is the URL of the control plane's Prometheus, where it has one. It
// scrapes the data path once a second.
func (p *Plane) Prometheus() (string, error) {
	if _, err := p.part(prometheusName); err != nil {
		return "", fmt.Errorf("the control plane %q runs no Prometheus: %w", p.Name, err)
	}
	return "http://" + p.Address(recorded(prometheusServer)), nil
}

// prometheusProgram is the one on the PATH, or else Debian's, unpacked without
// installing it: building Prometheus takes longer than all else.
func (o Options) prometheusProgram(ctx context.Context) (string, error) {
	if program, err := exec.LookPath(prometheusName); err == nil {
		return program, nil
	}
	folder := filepath.Join(o.Home, "bin", prometheusName)
	program := filepath.Join(folder, prometheusName)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	o.say("unpacking Debian's package prometheus …")
	if err := unpackPrometheus(ctx, folder); err != nil {
		return "", fmt.Errorf("%w; install prometheus, so that it is on the PATH", err)
	}
	return program, nil
}

// unpackPrometheus puts prometheus and promtool into a folder.
func unpackPrometheus(ctx context.Context, folder string) error {
	scratch, err := os.MkdirTemp("", prometheusName)
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	script := exec.CommandContext(ctx, "sh", "-ec", `apt-get download prometheus; dpkg-deb -x prometheus_*.deb .`)
	script.Dir = scratch
	if out, err := script.CombinedOutput(); err != nil {
		return fmt.Errorf("unpacking the package prometheus: %w\n%s", err, out)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"promtool", prometheusName} { // what is looked for comes last
		content, err := os.ReadFile(filepath.Join(scratch, "usr/bin", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// startPrometheus scrapes the data path as a PodMonitor has Kourier's gateway
// scraped, only more often.
func (p *Plane) startPrometheus(ctx context.Context, o Options) error {
	program, err := o.prometheusProgram(ctx)
	if err != nil {
		return err
	}
	config := p.File("prometheus.yml")
	text := fmt.Sprintf("scrape_configs:\n- {job_name: kourier, scrape_interval: 1s, scrape_timeout: 1s, metrics_path: /stats/prometheus, static_configs: [{targets: [%q]}]}\n", p.Address("stats"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	if err := p.run(prometheusName, nil, program, "--config.file="+config, "--storage.tsdb.path="+p.File(prometheusName),
		"--web.listen-address="+p.Address(prometheusName), "--log.level=warn"); err != nil {
		return err
	}
	return p.until(ctx, prometheusName, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Address(prometheusName)+"/-/ready", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	})
}
