// Package consoletest reads what a program printed and wrote as the Actions
// runner does.
package consoletest

import (
	"errors"
	"slices"
	"strings"
	"unicode"
)

// A Command is a workflow command as the runner understood it.
type Command struct {
	Name       string
	Properties map[string]string
	Data       string
}

// registered are the runner's commands, case ignored.
const registered = " add-mask add-matcher add-path debug echo endgroup error group internal-set-repo-path notice remove-matcher save-state set-env set-output stop-commands warning "

func isRegistered(name string) bool {
	return name != "" && !strings.Contains(name, " ") && strings.Contains(registered, " "+strings.ToLower(name)+" ")
}

// Commands are the commands that the runner finds in what a step prints, which
// it cuts into lines at \n, \r\n and \r: a port of ActionCommand.TryParseV2 and
// TryParse
// (https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs).
func Commands(output string) []Command {
	var found []Command
	for line := range strings.FieldsFuncSeq(output, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if c, ok := parseV2(line); ok {
			found = append(found, c)
		} else if c, ok := parseV1(line); ok {
			found = append(found, c)
		}
	}
	return found
}

// weightless says which characters .NET's comparison of strings, which obeys
// the culture, may skip. It says yes to more than .NET does.
func weightless(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point) || r == '\uFFFD'
}

func weigh(line string) string {
	return strings.Map(func(r rune) rune {
		if weightless(r) {
			return -1
		}
		return r
	}, line)
}

func parseV2(line string) (Command, bool) {
	line = strings.TrimLeftFunc(weigh(line), unicode.IsSpace)
	rest, ok := strings.CutPrefix(line, "::")
	if !ok {
		return Command{}, false
	}
	info, data, ok := strings.Cut(rest, "::")
	return parseInfo(info, data, ok, ",", strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%"))
}

func parseV1(line string) (Command, bool) {
	_, rest, ok := strings.Cut(weigh(line), "##[")
	if !ok {
		return Command{}, false
	}
	info, data, ok := strings.Cut(rest, "]")
	return parseInfo(info, data, ok, ";", strings.NewReplacer("%3B", ";", "%0D", "\r", "%0A", "\n", "%5D", "]", "%25", "%"))
}

func parseInfo(info, data string, ok bool, separator string, unescape *strings.Replacer) (Command, bool) {
	name, properties, _ := strings.Cut(info, " ")
	if !ok || !isRegistered(name) {
		return Command{}, false
	}
	c := Command{Name: name, Data: unescape.Replace(data)}
	for pair := range strings.SplitSeq(strings.TrimSpace(properties), separator) {
		if key, value, ok := strings.Cut(pair, "="); ok && key != "" && value != "" {
			if c.Properties == nil {
				c.Properties = map[string]string{}
			}
			c.Properties[key] = unescape.Replace(value)
		}
	}
	return c, true
}

// An Output is one value that a step hands on.
type Output struct{ Name, Value string }

// Outputs are the values in the file of a step's outputs: a port of EnvFileKeyValuePairs
// (https://github.com/actions/runner/blob/main/src/Runner.Worker/FileCommandManager.cs).
func Outputs(text string) ([]Output, error) {
	var found []Output
	next := func() (line string, ended, ok bool) {
		if text == "" {
			return "", false, false
		}
		line, rest, ended := strings.Cut(text, "\n")
		text = rest
		return line, ended, true
	}
	for {
		line, _, ok := next()
		if !ok {
			return found, nil
		}
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case line == "":
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			found = append(found, Output{line[:equals], line[equals+1:]})
		case heredoc > 0 && heredoc+2 < len(line):
			value, err := heredocValue(line[heredoc+2:], next)
			if err != nil {
				return nil, err
			}
			found = append(found, Output{line[:heredoc], value})
		default:
			return nil, errors.New("invalid format")
		}
	}
}

// Values are those outputs by their names. The last of a name counts, as it
// does for the runner.
func Values(text string) (map[string]string, error) {
	outputs, err := Outputs(text)
	values := map[string]string{}
	for _, o := range outputs {
		values[o.Name] = o.Value
	}
	return values, err
}

func heredocValue(mark string, next func() (string, bool, bool)) (string, error) {
	var lines []string
	for {
		line, ended, ok := next()
		switch {
		case line == mark && ok:
			return strings.Join(lines, "\n"), nil
		case !ok:
			return "", errors.New("matching delimiter not found")
		case !ended:
			return "", errors.New("EOF marker missing new line")
		}
		lines = append(lines, line)
	}
}

// Environment is a getenv over lines of NAME=value.
func Environment(lines ...string) func(string) string {
	values := map[string]string{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

// Enough is an environment with what a command cannot do without, a promotion of what
// the overlay has where nothing else is said, and more
// lines of NAME=value.
func Enough(more ...string) func(string) string {
	otherwise := func(pair string) bool {
		return slices.Contains([]string{"INPUT_FROM", "INPUT_COMMAND", "INPUT_ENVIRONMENT", "INPUT_IMAGE"}, strings.SplitN(pair, "=", 2)[0])
	}
	if !slices.ContainsFunc(more, otherwise) {
		more = append([]string{"INPUT_IMAGE=unchanged"}, more...)
	}
	return Environment(append([]string{
		"INPUT_SERVICE=product-import",
		"INPUT_REPOSITORY=acme/infra",
		"INPUT_PATH=apps/product-import/overlays/production",
		"INPUT_APPLICATION=product-import-production",
		"INPUT_ARGOCD-SERVER=argocd.example.com",
		"INPUT_ARGOCD-TOKEN=argo-secret",
	}, more...)...)
}
