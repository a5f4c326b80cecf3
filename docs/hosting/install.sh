#!/bin/sh
# Install a public lobby on Debian 12 or later, as root, from a clone in /opt/ttt_net; see docs/hosting.md:
#   /opt/ttt_net/docs/hosting/install.sh play.example.org [nginx|caddy]
# Run it again after `git pull`: it installs the new version, and leaves your settings and the proxy's alone.
set -eu

domain=${1:?usage: install.sh DOMAIN [nginx|caddy]}
proxy=${2:-nginx}
root=${DESTDIR:-} # a folder in place of /, for tests
case $domain in *[!a-z0-9.-]*) echo "install.sh: $domain is no domain name in lower case" >&2; exit 2 ;; esac
case $proxy in nginx | caddy) ;; *) echo "install.sh: $proxy is not nginx or caddy" >&2; exit 2 ;; esac
clone=$(cd "$(dirname "$0")/../.." && pwd -P)
[ "$clone" = "$root/opt/ttt_net" ] || { echo "install.sh: clone into /opt/ttt_net, where the service looks" >&2; exit 2; }
cd "$clone/docs/hosting"

put() { # put FILE PLACE: copy a file with your domain, unless there is one
    [ -e "$root$2" ] || { install -d "$root$(dirname "$2")"; sed "s/play\.example\.org/$domain/g" "$1" >"$root$2"; }
}

apt-get update
if [ "$proxy" = nginx ]; then
    apt-get install -y python3-venv nginx certbot python3-certbot-nginx
else
    apt-get install -y python3-venv caddy
fi
[ -d "$clone/.venv" ] || python3 -m venv "$clone/.venv"
"$clone/.venv/bin/pip" install --quiet --require-hashes -r requirements.lock
"$clone/.venv/bin/pip" install --quiet --no-deps "$clone[host]"
install -d "$root/usr/local/bin" "$root/etc/systemd/system"
ln -sf /opt/ttt_net/.venv/bin/ttt_net "$root/usr/local/bin/ttt_net"
put server.toml /etc/ttt_net/server.toml
cp ttt_net.service ttt_net.socket "$root/etc/systemd/system/"
systemctl daemon-reload
systemctl enable --now ttt_net.socket ttt_net

if [ "$proxy" = nginx ]; then
    [ -e "$root/etc/letsencrypt/live/$domain" ] ||
        certbot certonly --nginx -d "$domain" --deploy-hook 'systemctl reload nginx'
    put nginx.conf /etc/nginx/sites-available/ttt_net
    install -d "$root/etc/nginx/sites-enabled"
    ln -sf ../sites-available/ttt_net "$root/etc/nginx/sites-enabled/ttt_net"
    nginx -t
elif ! grep -q "$domain" "$root/etc/caddy/Caddyfile" 2>/dev/null; then
    install -d "$root/etc/caddy"
    sed "s/play\.example\.org/$domain/g" Caddyfile >>"$root/etc/caddy/Caddyfile" # beside your other sites
fi
systemctl reload "$proxy"
echo "Players use https://$domain and wss://$domain. Open TCP ports 80 and 443 in your firewall."
