package forge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
)

// Admin is the account that every Gitea here has.
const Admin = "forge-admin"

// Command is how Gitea is run after Prepare: the arguments, and the variables
// of its environment beside the ones of who starts it.
func (o Options) Command() (argv, env []string) {
	return []string{o.Binary, "--config", o.config(), "web"}, []string{"GITEA_WORK_DIR=" + o.Dir, "HOME=" + o.Dir}
}

func (o Options) config() string { return filepath.Join(o.Dir, "app.ini") }

// Prepare writes the configuration, makes the database and the admin account.
// What is there already stays, so a folder may be prepared again, also for
// another address.
func Prepare(ctx context.Context, o Options) error {
	host, port, err := o.check()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return fmt.Errorf("preparing Gitea: %w", err)
	}
	s, err := makeSecret(o.Dir)
	if err != nil {
		return err
	}
	account, err := user.Current()
	if err != nil {
		return fmt.Errorf("preparing Gitea: looking for who runs it: %w", err)
	}
	if err := o.makeSigningKey(); err != nil {
		return err
	}
	if err := os.WriteFile(o.config(), o.configuration(s, host, port, account.Username), 0o600); err != nil {
		return fmt.Errorf("preparing Gitea: %w", err)
	}
	if err := o.run(ctx, "migrate"); err != nil {
		return err
	}
	err = o.run(ctx, "admin", "user", "create", "--admin", "--must-change-password=false",
		"--username", Admin, "--email", Admin+"@example.com", "--password", s.of("password of "+Admin))
	if err != nil && strings.Contains(err.Error(), "already exists") {
		return nil
	}
	return err
}

func (o Options) check() (host, port string, err error) {
	if host, port, err = net.SplitHostPort(o.Addr); err != nil || host == "" || port == "" {
		return "", "", fmt.Errorf("preparing Gitea: Addr %q: expected host:port to listen on", o.Addr)
	}
	if !filepath.IsAbs(o.Dir) || !filepath.IsAbs(o.Static) {
		return "", "", fmt.Errorf("preparing Gitea: Dir %q and Static %q: expected absolute paths", o.Dir, o.Static)
	}
	if _, err := os.Stat(filepath.Join(o.Static, "templates")); err != nil {
		return "", "", fmt.Errorf("preparing Gitea: Static %q: expected the folder of Gitea's source: it has no templates", o.Static)
	}
	return host, port, nil
}

// run runs one of Gitea's commands that end.
func (o Options) run(ctx context.Context, args ...string) error {
	argv, env := o.Command()
	command := exec.CommandContext(ctx, argv[0], append(argv[1:len(argv)-1:len(argv)-1], args...)...)
	command.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Run(); err != nil {
		return fmt.Errorf("preparing Gitea: %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return nil
}

// configuration is Gitea's app.ini, with the values filled in.
func (o Options) configuration(s secret, host, port, account string) []byte {
	return []byte(strings.NewReplacer(
		"{account}", account, "{host}", host, "{port}", port, "{url}", cmp.Or(o.URL, "http://"+o.Addr), "{static}", o.Static, "{dir}", o.Dir, "{signing key}", o.signingKey(),
		"{secret key}", s.of("SECRET_KEY"), "{internal token}", s.of("INTERNAL_TOKEN"), "{jwt secret}", s.of("JWT_SECRET"),
	).Replace(appINI))
}

// appINI is Gitea's app.ini: https://docs.gitea.com/administration/config-cheat-sheet.
//
// Nothing in it leaves the machine, and nothing runs beside what is asked for:
// no cron jobs, no search index, no mail. Passwords are hashed in a cheap way,
// as every request of the admin account is checked against one. Gitea signs what
// somebody merges who has a key of his own, and nothing else.
const appINI = `RUN_USER = {account}
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = {host}
HTTP_PORT = {port}
ROOT_URL = {url}/
LOCAL_ROOT_URL = http://{host}:{port}/
STATIC_ROOT_PATH = {static}
OFFLINE_MODE = true
DISABLE_SSH = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
PATH = {dir}/gitea.db
SQLITE_JOURNAL_MODE = WAL
[repository]
ROOT = {dir}/repositories
DEFAULT_BRANCH = main
[repository.signing]
SIGNING_KEY = {signing key}
SIGNING_FORMAT = ssh
SIGNING_NAME = Gitea
SIGNING_EMAIL = gitea@example.com
INITIAL_COMMIT = never
CRUD_ACTIONS = never
MERGES = pubkey
[git]
HOME_PATH = {dir}/home
[security]
INSTALL_LOCK = true
SECRET_KEY = {secret key}
INTERNAL_TOKEN = {internal token}
PASSWORD_HASH_ALGO = pbkdf2$1$50
[oauth2]
ENABLED = false
JWT_SECRET = {jwt secret}
[service]
DISABLE_REGISTRATION = true
REGISTER_EMAIL_CONFIRM = false
[log]
MODE = console
LEVEL = Warn
[session]
PROVIDER = memory
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[actions]
ENABLED = false
[packages]
ENABLED = false
[picture]
DISABLE_GRAVATAR = true
`

// secret is what all of a Gitea's secrets are made of, so that whoever knows
// the folder can talk to it.
type secret []byte

// of returns the secret for a purpose, in the form that Gitea wants of its
// JWT_SECRET.
func (s secret) of(purpose string) string {
	mac := hmac.New(sha256.New, s)
	mac.Write([]byte(purpose))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func secretFile(dir string) string { return filepath.Join(dir, "secret") }

func makeSecret(dir string) (secret, error) {
	if s, err := readSecret(dir); !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s := make(secret, 32)
	if _, err := rand.Read(s); err != nil {
		return nil, fmt.Errorf("making a secret: %w", err)
	}
	if err := os.WriteFile(secretFile(dir), []byte(hex.EncodeToString(s)), 0o600); err != nil {
		return nil, fmt.Errorf("keeping a secret: %w", err)
	}
	return s, nil
}

func readSecret(dir string) (secret, error) {
	text, err := os.ReadFile(secretFile(dir))
	if err != nil {
		return nil, fmt.Errorf("reading the secret of a prepared Gitea: %w", err)
	}
	s, err := hex.DecodeString(string(text))
	if err != nil || len(s) == 0 {
		return nil, fmt.Errorf("reading the secret of a prepared Gitea: %s is damaged", secretFile(dir))
	}
	return s, nil
}
