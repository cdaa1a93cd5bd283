"""Encrypted and authenticated connections, to listeners of a real broker that ask for them."""

from pathlib import Path

import pytest
from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from kafkalearn.live import Kafka, connect
from kafkalearn.live.errors import NoAnswer, Refused
from kafkalearn.live.nodes import free_ports
from kafkalearn.live.requests import security_of

pytestmark = pytest.mark.live

PEM = Path(__file__).with_name("loopback.pem")
LOGIN = "org.apache.kafka.common.security"
WHO = {"sasl.username": "anna", "sasl.password": "a secret, with =,"}
TRUST = {"ssl.ca.location": str(PEM)}


@pytest.fixture(scope="module")
def ports(release):
    """Where a broker listens for SASL, for TLS, and for SASL within TLS."""
    sasl, tls, both = free_ports(3)
    names = {"SASL": (sasl, "SASL_PLAINTEXT"), "TLS": (tls, "SSL"), "BOTH": (both, "SASL_SSL")}
    more = ",".join(f"{name}://127.0.0.1:{port}" for name, (port, _) in names.items())
    kinds = ",".join(f"{name}:{protocol}" for name, (_, protocol) in names.items())
    password = WHO["sasl.password"]
    config = {
        "listeners": lambda node: (
            f"PLAINTEXT://127.0.0.1:{node.port},CONTROLLER://127.0.0.1:{node.controller_port},{more}"
        ),
        "advertised.listeners": lambda node: f"PLAINTEXT://127.0.0.1:{node.port},{more}",
        "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,{kinds}",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": PEM,
        **{
            f"listener.name.{name}.{mechanism}.sasl.jaas.config": f"{LOGIN}.{module} required{words};"
            for name in ("sasl", "both")
            for mechanism, module, words in (
                ("plain", "plain.PlainLoginModule", f' user_anna="{password}"'),
                ("scram-sha-256", "scram.ScramLoginModule", ""),
                ("scram-sha-512", "scram.ScramLoginModule", ""),
            )
        },
    }
    with Kafka(release=release, config=config) as kafka:
        add_user(kafka)
        kafka.create_topic("orders")
        yield {name: port for name, (port, _) in names.items()}


def add_user(kafka):
    """Give the cluster what it needs to know the password by SCRAM."""
    admin, name, password = kafka.admin(), WHO["sasl.username"], WHO["sasl.password"].encode()
    for kind in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        change = UserScramCredentialUpsertion(name, ScramCredentialInfo(kind, 4096), password)
        (future,) = admin.alter_user_scram_credentials([change]).values()
        future.result(15)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize(("name", "protocol"), [("SASL", "SASL_PLAINTEXT"), ("BOTH", "SASL_SSL")])
def test_who_knows_the_password_may_read(ports, name, protocol, mechanism):
    config = {"security.protocol": protocol, "sasl.mechanism": mechanism, **WHO, **TRUST}
    with connect(f"127.0.0.1:{ports[name]}", config) as cluster:
        assert cluster.high_watermark("orders", 0) == 0


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_who_does_not_is_refused(ports, mechanism):
    config = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, **WHO, "sasl.password": "guessed"}
    with pytest.raises(Refused, match="does not believe who we are: SASL_AUTHENTICATION_FAILED"):
        connect(f"127.0.0.1:{ports['SASL']}", config)


def test_a_mechanism_that_the_broker_does_not_have_is_named_with_those_it_has(ports):
    config = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "oauth_cb": lambda _: ("t", 0.0)}
    with pytest.raises(Refused, match=r"refuses sasl\.mechanism OAUTHBEARER: UNSUPPORTED_SASL_MECHANISM.*SCRAM"):
        connect(f"127.0.0.1:{ports['SASL']}", config)


def test_a_trusted_certificate_encrypts(ports):
    with connect(f"localhost:{ports['TLS']}", {"security.protocol": "SSL", **TRUST}) as cluster:
        assert cluster.topics() == {"orders": 1}


def test_one_that_is_not_trusted_is_refused(ports):
    with pytest.raises(NoAnswer, match=r"no encrypted connection to localhost: .*certificate.*ssl\.ca\.location"):
        connect(f"localhost:{ports['TLS']}", {"security.protocol": "SSL"})


def test_a_listener_of_another_kind_is_no_endless_wait(ports):
    with pytest.raises(NoAnswer):
        connect(f"127.0.0.1:{ports['TLS']}", timeout_s=2)
    with pytest.raises(NoAnswer, match=r"is the listener the right one"):
        connect(f"127.0.0.1:{ports['SASL']}", timeout_s=2)


def test_a_password_shows_nowhere():
    config = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", **WHO}
    assert WHO["sasl.password"] not in repr(security_of(config))
