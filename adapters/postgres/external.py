"""The check of a PostgreSQL server of the user's own, named by DATABASE_URL, before anything relies on it.

No text of an address that could not be taken apart is ever shown: its password may be anywhere in it. libpq's own
messages quote such parts, so they are passed on only once the address has proved sound.
"""

from contextlib import suppress

import psycopg
from psycopg.conninfo import conninfo_to_dict

from adapters.postgres.unavailable import DatabaseUnavailable

OLDEST_VERSION = 150000  # as server_version_num
OLDEST_VECTOR = (0, 7)  # the first with 16-bit vectors
_CONNECT_TIMEOUT = 5  # seconds for each address of the host, unless the URL says otherwise
_FORM = "postgresql://user:password@host:5432/database"


def check_server(conninfo: str) -> None:
    """Checks that the server can be reached, lets us in, is PostgreSQL 15 or newer with UTF-8, and has pgvector.

    Changes nothing there. Raises DatabaseUnavailable, whose text never contains the password.
    """
    parameters = _parse(conninfo)
    timeout = int(parameters.get("connect_timeout") or _CONNECT_TIMEOUT)
    try:
        connection = psycopg.connect(conninfo, connect_timeout=timeout, autocommit=True)
    except psycopg.Error as error:
        raise DatabaseUnavailable(_refusal(error, parameters)) from None  # the cause's text is not checked for secrets
    with connection:
        try:
            _check_version(connection)
            _check_encoding(connection)
            _check_vector(connection)
        except psycopg.Error as error:
            message = error.diag.message_primary or " ".join(str(error).split())
            raise DatabaseUnavailable(
                f"The PostgreSQL server of DATABASE_URL failed while it was checked: {message}. Look into its log."
            ) from error


def _parse(conninfo: str) -> dict[str, str]:
    scheme, separator, _ = conninfo.partition("://")
    if not conninfo.strip():
        raise DatabaseUnavailable(f"DATABASE_URL is empty. Set it to an address such as {_FORM}, or unset it.")
    if separator and scheme not in ("postgresql", "postgres"):
        shown = scheme if scheme.replace("+", "").isalnum() else "?"
        raise DatabaseUnavailable(f"DATABASE_URL begins with {shown}://, which is not PostgreSQL. Write it as {_FORM}.")
    malformed = DatabaseUnavailable(
        f"DATABASE_URL is not a well-formed address. Write it as {_FORM}, with percent signs for characters such as "
        "@ : / ? # % in the password (%40 %3A %2F %3F %23 %25)."
    )
    try:
        parameters = {name: str(value) for name, value in conninfo_to_dict(conninfo).items() if value is not None}
    except psycopg.Error:
        raise malformed from None  # libpq's message quotes the address, password and all
    ports = [port for port in parameters.get("port", "").split(",") if port]
    sound_port = all(port.isdecimal() and 0 < int(port) < 65536 for port in ports)
    sound_timeout = parameters.get("connect_timeout", "0").removeprefix("-").isdecimal()
    # An @ in the host or, in a URL, in the database is the rest of a password that was not escaped.
    stray = "@" in parameters.get("host", "") or (bool(separator) and "@" in parameters.get("dbname", ""))
    if not sound_port or not sound_timeout or stray:
        raise malformed
    return parameters


def _refusal(error: psycopg.Error, parameters: dict[str, str]) -> str:
    """What went wrong while connecting. Such errors carry no code, and servers may speak other languages."""
    message = _without_secrets(error, parameters)
    host = parameters.get("host") or parameters.get("hostaddr") or "the local socket"
    server = f"The PostgreSQL server at {host}" + (f":{parameters['port']}" if parameters.get("port") else "")
    user, database = parameters.get("user", "(the default)"), parameters.get("dbname", "(the default)")
    used_password = error.pgconn is not None and error.pgconn.used_password
    needs_password = error.pgconn is not None and error.pgconn.needs_password
    if needs_password:
        return f"{server} asks user {user} for a password, and DATABASE_URL has none. Write it as {_FORM}."
    if "no pg_hba.conf entry" in message or "pg_hba.conf rejects" in message:
        return f"{server} does not let user {user} into database {database} from here. Allow it in its pg_hba.conf."
    if "database" in message and "does not exist" in message:
        return f"{server} has no database {database}. Create it, or correct the database in DATABASE_URL."
    if "authentication failed" in message or ("role" in message and "does not exist" in message):
        return f"{server} refuses user {user}: wrong password or no such user. Correct DATABASE_URL."
    if "could not translate host name" in message or "failed to resolve host" in message:
        return f"The host {host} of DATABASE_URL is not known. Correct its name, or the network's name service."
    if "FATAL" not in message and not used_password:
        return f"{server} cannot be reached ({message}). Start it, or correct the host and port in DATABASE_URL."
    return f"{server} refuses user {user} for database {database}: {message}. Correct DATABASE_URL."


def _without_secrets(error: psycopg.Error, parameters: dict[str, str]) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    message = next((line for line in lines if line), "no reason given").removeprefix("connection failed: ")
    for name in ("password", "sslpassword"):
        if parameters.get(name):
            message = message.replace(parameters[name], "***")
    return message.rstrip(".")


def _check_version(connection: psycopg.Connection) -> None:
    if connection.info.server_version < OLDEST_VERSION:
        shown = connection.info.parameter_status("server_version")
        raise DatabaseUnavailable(
            f"The server of DATABASE_URL is PostgreSQL {shown}, and {OLDEST_VERSION // 10000} or newer is needed. "
            "Upgrade it, or name another server."
        )


def _check_encoding(connection: psycopg.Connection) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise DatabaseUnavailable(
            f"The database {connection.info.dbname} of DATABASE_URL stores text as {encoding}, and UTF8 is needed to "
            "keep every character. Create another one with `CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0`."
        )


def _check_vector_version(version: str) -> None:
    oldest = ".".join(str(part) for part in OLDEST_VECTOR)
    if tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) < OLDEST_VECTOR:
        raise DatabaseUnavailable(
            f"The server of DATABASE_URL has pgvector {version}, and {oldest} or newer is needed. Upgrade it there, or "
            "name another server."
        )


def _check_vector(connection: psycopg.Connection) -> None:
    """Migrations create the extension; this only sees whether they can, by doing it and taking it back."""
    found = connection.execute(
        "SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    if found is not None:
        installed, offered = found
        _check_vector_version(installed or offered)
        if installed:
            return
    else:
        raise DatabaseUnavailable(
            "The PostgreSQL server of DATABASE_URL has no pgvector. Install it there "
            f"(Debian: postgresql-{connection.info.server_version // 10000}-pgvector), or name another server."
        )
    with suppress(psycopg.errors.DuplicateObject), connection.transaction(force_rollback=True):
        try:
            connection.execute("SET LOCAL lock_timeout = '10s'")
            connection.execute("CREATE EXTENSION vector")
        except psycopg.errors.InsufficientPrivilege:
            raise DatabaseUnavailable(
                f"The user {connection.info.user} may not create the extension vector in the database "
                f"{connection.info.dbname} of DATABASE_URL. Let a superuser run `CREATE EXTENSION vector` there once."
            ) from None
