"""Names: how much one says about its value, in whichever case it is written."""

import re
from enum import Enum
from functools import cache, lru_cache


class Strength(Enum):
    """How much a name says about its value."""

    NONE = 0
    """Nothing."""
    WEAK = 1
    """It may hold a secret: token, cookie, session."""
    STRONG = 2
    """It does, if it holds a literal: password, client secret, API key."""
    NEVER = 3
    """It holds something random that is no secret: a hash, an id, an image."""


def words(text: str) -> frozenset[str]:
    """The words of a text, in which long lists are easier to read."""
    return frozenset(text.split())


_PASSWORDS = words("""
    pass passcode passphrase passwd password passwort pw pwd userpass
""")
_SECRETS = _PASSWORDS | words("""
    accesskey accesstoken accountkey apikey appkey authkey authtoken bearertoken connectionstring credential
    credentials encryptionkey masterkey privatekey refreshtoken secret secretkey sharedaccesskey signingkey
""")
_BEFORE_KEY = words("""
    access account activation admin aes api app application auth client consumer cookie crypto database db
    decryption deploy encrypt encryption function gpg hmac ingest ingestion jwt license master private
    registration rndc root rsa secret service session shared sign signing ssh storage subscription symmetric
    webhook write
""")
"""What makes a key one that opens something."""
_BEFORE_TOKEN = words("""
    access api auth bearer bot deploy id oauth personal private refresh secret user
""")
_MAYBE = words("""
    auth authorization bearer cookie cred creds csrf dsn jwt otp pat pin salt sas secrets session sid sig
    signature token webhook xsrf
""")
_ABOUT = words("""
    age alg algorithm arg args at attempts audience bool bucket budget bytes callback class column cost count
    counter counts date decode description dir directory disabled domain email enabled encode end endpoint env
    error errors estimate estimator event events exp expiration expire expires expiry factory field fields file
    filename folder form format function generator handler header headers help helper hint hints host iat id ids
    idx index info input invalid issuer kind kinds label len length lexer lifetime limit limits link list
    manager map max message method min mode name names node offset page param params parser path pattern per
    placeholder policy port position prefix price prompt provider rate ref regex region required reset retry
    role roles rotation scope scopes seconds size source start state status store str stream strength suffix
    table text time timeout title tokens total tree ttl type types uri url usage used user username util utils
    valid validator var variable version view window
""")
"""What a name ends with that is about a secret and not one."""
_RANDOM = words("""
    alphabet avatar b64 base64 bin blake2b blake3 blob body bootstrap boundary bytecode cert certificate
    characters chars charset checksum checksums cid class classname commit content continuation crc crc32 css
    cursor data digest digits etag expected file filename fingerprint fixture font gif golden guid h1 hash
    hashes hex href icon id ids image img integrity jpg kid logo mappings md5 modulus name narhash nonce oid
    path pdf png pubkey public ref resolved rev revision seed selector sha sha1 sha2 sha256 sha384 sha512
    sitekey snapshot sourcemap src style sum svg tag text thumbnail thumbprint uri url uuid vector
    version wasm x5t zh
""")
"""What is random and no secret."""


@cache
def _parts() -> re.Pattern[str]:
    return re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@lru_cache(maxsize=4096)
def strength(name: str) -> Strength:
    """How much a name says: dbPassword as much as DB_PASSWORD and db-password."""
    parts = [word.lower() for word in _parts().findall(name[-80:])]
    if len(parts) > 1 and parts[-1].isdigit():
        del parts[-1]
    before, last = ["", *parts][-2:] if parts else ("", "")
    if "public" in parts:
        return Strength.NEVER
    if last in _ABOUT:
        return Strength.NEVER if last in _RANDOM else Strength.NONE
    if last in _SECRETS or before == "password" or (_SECRETS - _PASSWORDS) & set(parts):
        return Strength.STRONG
    if (last == "key" and before in _BEFORE_KEY) or (last == "token" and before in _BEFORE_TOKEN):
        return Strength.STRONG
    if last in _RANDOM:
        return Strength.NEVER
    if last.endswith(("password", "passwd", "passphrase", "secret", "apikey")):
        return Strength.STRONG
    if last in _MAYBE or last.endswith("token"):
        return Strength.WEAK
    return Strength.NEVER if _RANDOM & set(parts) else Strength.NONE
