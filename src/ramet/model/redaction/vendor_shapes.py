"""The shapes of tokens that services issue: data only, as RE2 patterns.

A shape starts at the edge of a word, or behind an underscore as in `GH_TOKEN_ghp_…`. The first shape that fits names
the kind, so a special shape is above the general one. A kind is part of stored placeholders and keeps its name.

A token whose start is found nowhere else needs only so many characters that no word has them: a token that was cut is
a secret, too, and long repetitions make a matcher large. An exact length is for starts that words have as well.
"""

_HEX = "[0-9a-f]"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TEXT = "[A-Za-z0-9]"
_URL = "[A-Za-z0-9_-]"

SHAPES: dict[str, str] = {
    # Models.
    "anthropic": rf"sk-ant-{_URL}{{20,}}",
    "openrouter": rf"sk-or-(?:v1-)?{_TEXT}{{24,}}",
    "openai": rf"sk-(?:(?:proj|svcacct|admin|None)-{_URL}{{20,}}|{_URL}{{32,}})",
    "elevenlabs": rf"sk_{_HEX}{{32,}}\b",
    "xai": rf"xai-{_TEXT}{{24,}}",
    "groq": rf"gsk_{_TEXT}{{24,}}",
    "perplexity": rf"pplx-{_TEXT}{{24,}}",
    "replicate": rf"r8_{_TEXT}{{24,}}",
    "huggingface": rf"(?:hf_|api_org_){_TEXT}{{24,}}",
    "nvidia": rf"nvapi-{_URL}{{24,}}",
    "cerebras": rf"csk-{_TEXT}{{24,}}",
    "together": rf"tgp_v1_{_URL}{{20,}}",
    "fireworks": rf"fw_{_TEXT}{{22,}}\b",
    "langsmith": rf"lsv2_(?:pt|sk)_{_HEX}{{20,}}(?:_{_HEX}{{4,}})?",
    "pinecone": rf"pcsk_{_URL}{{24,}}",
    "tavily": rf"tvly-(?:dev-|prod-)?{_TEXT}{{20,}}",
    "jina": rf"jina_{_URL}{{24,}}",
    "firecrawl": rf"fc-{_HEX}{{32}}\b",
    "wandb": rf"wandb_v1_{_URL}{{20,}}",
    "anyscale": rf"esecret_{_TEXT}{{20,}}",
    "cursor": rf"(?:key|crsr)_{_HEX}{{40,}}\b",
    "yandex": rf"(?:AQVN{_URL}{{35,38}}\b|y[0-6]_{_URL}{{50,}})",
    # Code, packages and builds.
    "github": rf"(?:gh[pousr]_{_TEXT}{{36,}}|github_pat_{_TEXT}[A-Za-z0-9_]{{30,}})",
    "gitlab": rf"(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct|wt)-{_URL}{{20,}}|GR1348941{_URL}{{20,}})",
    "bitbucket": rf"ATBB{_TEXT}{{28,}}",
    "atlassian": r"AT(?:ATT|CTT|STT)3[A-Za-z0-9_=-]{24,}",
    "npm": rf"npm_{_TEXT}{{36}}",
    "pypi": rf"pypi-{_URL}{{32,}}",
    "rubygems": rf"rubygems_{_HEX}{{24,}}",
    "crates": rf"cio{_TEXT}{{32}}\b",
    "nuget": r"oy2[a-z0-9]{43}\b",
    "clojars": r"CLOJARS_[0-9a-z]{24,}",
    "jfrog": rf"(?:AKCp{_TEXT}{{32,}}|cmVmdGtu{_TEXT}{{32,}})",
    "sonar": rf"sq[pua]_{_HEX}{{32,}}\b",
    "circleci": rf"CCI(?:PAT|PRJ)_{_TEXT}{{10,}}_{_HEX}{{20,}}",
    "buildkite": rf"bk[a-z]{{2}}_{_HEX}{{32,}}\b",
    "docker": rf"(?:dckr_[po]at_{_URL}{{20,}}|SWMTKN-1-[0-9a-z]{{24,}}-[0-9a-z]{{20,}})",
    "postman": rf"PMAK-{_HEX}{{24}}-{_HEX}{{20,}}",
    "sentry": rf"(?:sntrys_[A-Za-z0-9+/=_-]{{24,}}|sntryu_{_HEX}{{24,}})",
    "deno": rf"dd[pow]_{_TEXT}{{32,}}",
    # Clouds and hosting.
    "aws": r"(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b|ABSK[A-Za-z0-9+/]{60,}={0,2})",
    "google": rf"(?:AIza{_URL}{{35}}|ya29\.{_URL}{{20,}}|GOCSPX-{_URL}{{24,}}|1//0{_URL}{{32,}})",
    "azure": r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    "alibaba": rf"LTAI{_TEXT}{{16,20}}\b",
    "tencent": rf"AKID{_TEXT}{{32}}\b",
    "digitalocean": rf"do[opr]_v1_{_HEX}{{24,}}",
    "cloudflare": rf"v1\.0-{_HEX}{{24}}-{_HEX}{{40,}}",
    "fly": rf"(?:fo1_{_URL}{{24,}}|fm[12][ar]?_[A-Za-z0-9+/=_-]{{32,}})",
    "heroku": rf"HRKU-(?:AA{_URL}{{24,}}|{_UUID})",
    "netlify": rf"nfp_{_TEXT}{{24,}}",
    "render": rf"rnd_{_TEXT}{{24,}}",
    "supabase": rf"(?:sbp_{_HEX}{{32,}}|sb_secret_{_URL}{{20,}})",
    "planetscale": r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{24,}",
    "neon": r"napi_[a-z0-9]{32,}",
    "scalingo": rf"tk-us-{_URL}{{32,}}",
    "databricks": rf"dapi{_HEX}{{32}}(?:-[0-9])?\b",
    "openshift": rf"sha256~{_URL}{{43}}",
    # Keeping secrets, and running things.
    "vault": rf"hv[sbr]\.{_URL}{{24,}}",
    "terraform": r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{32,}",
    "doppler": rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_TEXT}{{32,}}",
    "pulumi": rf"pul-{_HEX}{{40}}\b",
    "onepassword": r"ops_eyJ[A-Za-z0-9+/]{40,}={0,3}",
    "age": r"AGE-SECRET-KEY-1[0-9A-Z]{32,}",
    "infracost": rf"ico-{_TEXT}{{32}}\b",
    "harness": rf"[ps]at\.{_URL}{{22}}\.{_HEX}{{24}}\.{_TEXT}{{20}}",
    "prefect": rf"pn[ub]_{_TEXT}{{32,}}",
    "tailscale": r"tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}",
    "dynatrace": r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{32,}",
    "newrelic": rf"NR(?:AK|JS|II|RA|BR)-{_URL}{{19,}}",
    "grafana": r"(?:glc_[A-Za-z0-9+/]{32,}={0,2}|glsa_[A-Za-z0-9]{24,}_[0-9A-Fa-f]{8})",
    "launchdarkly": rf"(?:sdk|api|mob)-{_UUID}",
    "intra": rf"s-s4t2(?:ud|af)-{_HEX}{{32,}}",
    # Messages and mail.
    "slack": rf"(?:xox[abeoprs]-[A-Za-z0-9-]{{10,}}|xoxe\.xox[bp]-[0-9]-{_TEXT}{{24,}}"
    rf"|xapp-[0-9]-[A-Z0-9]+-[0-9]+-{_HEX}{{24,}})",
    "slack_webhook": r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{30,}",
    "discord": rf"[MNO][A-Za-z0-9_-]{{23,27}}\.{_URL}{{6,7}}\.{_URL}{{27,40}}",
    "discord_webhook": rf"discord(?:app)?\.com/api/webhooks/[0-9]{{10,}}/{_URL}{{24,}}",
    "teams_webhook": r"[a-z0-9-]+\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{40,}",
    "telegram": rf"[0-9]{{8,10}}:AA{_URL}{{33}}",
    "twilio": rf"SK{_HEX}{{32}}\b",
    "sendgrid": rf"SG\.{_URL}{{22}}\.{_URL}{{24,}}",
    "mailgun": rf"(?:key|pubkey)-{_HEX}{{32}}\b",
    "mailchimp": rf"{_HEX}{{32}}-us[0-9]{{1,2}}\b",
    "brevo": rf"x(?:keysib|smtpsib)-{_HEX}{{40,}}(?:-{_TEXT}{{16}})?",
    "resend": rf"re_{_TEXT}{{8}}_{_TEXT}{{20,}}",
    # Payment and shops.
    "stripe": rf"(?:[rs]k_(?:live|test|prod)_{_TEXT}{{20,}}|whsec_[A-Za-z0-9+/]{{24,}}={{0,2}})",
    "square": rf"(?:sq0[a-z]{{3}}-{_URL}{{22,43}}|EAAA{_URL}{{60,}})",
    "braintree": rf"access_token\$(?:production|sandbox)\$[0-9a-z]{{16}}\${_HEX}{{24,}}",
    "shopify": r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{24,}",
    "flutterwave": rf"FLWSECK(?:_TEST)?-{_TEXT}{{12,}}(?:-X)?",
    "plaid": rf"access-(?:sandbox|development|production)-{_UUID}",
    "easypost": rf"EZ[AT]K{_TEXT}{{40,}}",
    "shippo": rf"shippo_(?:live|test)_{_HEX}{{24,}}",
    "duffel": r"duffel_(?:test|live)_[A-Za-z0-9_=-]{24,}",
    # People and their documents.
    "notion": rf"(?:ntn_{_TEXT}{{32,}}|secret_{_TEXT}{{43}}\b)",
    "linear": rf"lin_(?:api|oauth)_{_TEXT}{{24,}}",
    "figma": rf"fig[dou]_{_URL}{{24,}}",
    "airtable": rf"pat{_TEXT}{{14}}\.{_HEX}{{40,}}\b",
    "asana": rf"[0-9]/[0-9]{{16}}(?:/[0-9]{{16}})?:{_HEX}{{32}}\b",
    "dropbox": rf"sl\.(?:u\.)?{_URL}{{60,}}",
    "typeform": rf"tfp_{_URL}{{32,}}",
    "contentful": rf"CFPAT-{_URL}{{32,}}",
    "hubspot": rf"pat-(?:na|eu|ap)[0-9]-{_UUID}",
    "salesforce": r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}",
    "facebook": rf"EAA{_TEXT}{{100,}}",
    "mapbox": rf"sk\.eyJ{_URL}{{40,}}\.{_URL}{{16,}}",
    "adobe": rf"p8e-{_TEXT}{{32}}\b",
    "readme": r"rdme_[a-z0-9]{32,}",
    "frameio": rf"fio-u-{_URL}{{32,}}",
    # No service in particular.
    "ramet": rf"s[1-9][0-9]{{0,18}}\.{_HEX}{{64}}\b",
    "service_token": rf"[a-z][a-z0-9]{{1,15}}[_-](?:live|test|prod|pat|sk|secret|token|key|api)[_-]{_TEXT}{{20,}}\b",
    "secret_token": r"secret-token:[A-Za-z0-9_.~%-]{16,}",
    "jwt": rf"eyJ{_URL}{{10,}}\.eyJ{_URL}{{10,}}\.{_URL}{{10,}}",
}
"""The shape of each kind, without its edge."""

AWS_PAIR = r"(?:AKIA|ASIA)[A-Z0-9]{16}[\"',:;|\s]{1,8}[A-Za-z0-9+/]{40}\b"
"""The id of a key and the key behind it, as in a file of credentials. The key alone has no shape."""

VARIED = frozenset({"alibaba", "bitbucket", "crates", "discord", "facebook", "fireworks", "service_token", "tencent"})
"""Kinds whose shape an identifier can have. These are tokens only if letters, digits or cases alternate in them."""

HINTS = {
    "airtable": r"pat[A-Za-z0-9]{14}\.",
    "asana": r"/[0-9]{16}",
    "azure": r"[0-9]Q~",
    "discord": r"\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27}",
    "harness": r"[ps]at\.[A-Za-z0-9_-]{8}",
    "mailchimp": r"[0-9a-f]-us[0-9]",
    "ramet": r"s[1-9][0-9]*\.[0-9a-f]{8}",
    "salesforce": r"00D[A-Za-z0-9]{8}",
    "service_token": r"[_-](?:live|test|prod|pat|sk|secret|token|key|api)[_-][A-Za-z]*[0-9]",
    "teams_webhook": r"\.webhook\.office\.com",
    "telegram": r"[0-9]:AA[A-Za-z0-9_-]{4}",
    "terraform": r"\.atlasv1\.",
}
"""What at least is in a text that holds one, for shapes whose start is not a fixed text: a matcher that has to count
from every character of a text is slow.
"""
