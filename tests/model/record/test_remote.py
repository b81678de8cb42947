"""A git remote in one form, and without anybody's password."""

import pytest

from ramet.model.record.remote import normal_remote


@pytest.mark.requirement("R310")
@pytest.mark.parametrize(
    "spelling",
    [
        "https://forge.example/team/shop.git",
        "https://forge.example/team/shop",
        "https://forge.example:443/team/shop/",
        "https://ann:s3cret@forge.example/team/shop.git",
        "https://x-access-token:ghp_abc@FORGE.example/team/shop",
        "https://forge.example/team/shop.git?token=s3cret",
        "ssh://git@forge.example/team/shop.git",
        "ssh://git@forge.example:22/team/shop.git",
        "git@forge.example:team/shop.git",
        "git@forge.example:/team/shop",
        "forge.example:team/shop.git",
        "git://forge.example/team/shop.git\n",
        "git+ssh://git@forge.example/team//shop.git",
    ],
)
def test_one_repository_has_one_form_however_it_is_reached(spelling: str) -> None:
    assert normal_remote(spelling) == "forge.example/team/shop"


@pytest.mark.parametrize(
    "url", ["https://a.example/x/y", "https://b.example/x", "ssh://a.example:2222/x", "a.example:X"]
)
def test_other_repositories_stay_other_repositories(url: str) -> None:
    forms = {normal_remote(each) for each in (url, "https://a.example/x")}
    assert len(forms) == 2
    assert None not in forms


@pytest.mark.parametrize(
    "url",
    ["", "/srv/git/shop.git", "../shop", "file:///srv/git/shop", "C:\\git\\shop", "https://", "x", "https://a:p/w@h/x"],
)
def test_what_is_on_one_disk_is_no_remote(url: str) -> None:
    assert normal_remote(url) is None
