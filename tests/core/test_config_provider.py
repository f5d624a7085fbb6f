"""Which provider answers, with whose key."""

import os
import sys

import pytest
from mino_core.config import Config, Flags
from mino_core.config.choice import LOCAL, names
from mino_core.config.loading import load
from mino_core.config.presets import KEY_SUFFIX, presets
from mino_core.errors import ConfigError

KINDS = ("anthropic-messages", "local", "openai-chat", "openai-responses")


def configured(home, toml="", flags=None, **environ) -> Config:
    (home / "config.toml").write_text(toml)
    (home / "config.toml").chmod(0o600)
    return load({"MINO_HOME": str(home), **environ}, flags)


def key(choice) -> str | None:
    secret = choice.settings.secret("api_key")
    return secret.reveal() if secret else None


# -- nothing chosen ----------------------------------------------------------------------------


def test_nothing_chosen_and_no_key_means_local(tmp_path):
    choice = configured(tmp_path).provider()
    assert (choice.name, choice.kind, choice.model) == (LOCAL, LOCAL, None)
    assert configured(tmp_path, "", OTHER_API_KEY="x", DEEPSEEK_API_KEY=" ").provider().name == LOCAL


def test_one_known_key_means_its_preset(tmp_path):
    choice = configured(tmp_path, "", DEEPSEEK_API_KEY="k").provider()
    assert (choice.name, choice.kind, choice.model) == ("deepseek", "openai-chat", "deepseek-flash")
    assert choice.settings.text("base_url") == "https://api.deepseek.com"
    assert key(choice) == "k"
    assert choice.why == "DEEPSEEK_API_KEY is set"


def test_of_several_known_keys_the_first_preset_is_taken_and_the_reason_says_so(tmp_path):
    choice = configured(tmp_path, "", GROQ_API_KEY="g", ANTHROPIC_API_KEY="a").provider()
    assert choice.name == "anthropic"
    assert choice.why == "the first of the keys that are set: ANTHROPIC_API_KEY, GROQ_API_KEY"


def test_two_variables_of_one_preset_are_one_key(tmp_path):
    choice = configured(tmp_path, "", GOOGLE_API_KEY="b", GEMINI_API_KEY="a").provider()
    assert (choice.name, choice.why, key(choice)) == ("gemini", "GEMINI_API_KEY is set", "a")


def test_a_table_of_the_file_completes_the_preset_that_was_found(tmp_path):
    toml = '[providers.deepseek]\nmodel = "mine"\nread_timeout = 9\n'
    choice = configured(tmp_path, toml, DEEPSEEK_API_KEY="k").provider()
    assert (choice.model, choice.kind, key(choice)) == ("mine", "openai-chat", "k")
    assert choice.settings.number("read_timeout") == 9


# -- chosen ------------------------------------------------------------------------------------


def test_a_preset_needs_nothing_but_its_name_and_key(tmp_path):
    choice = configured(
        tmp_path, "", Flags(provider="anthropic", model="m"), ANTHROPIC_API_KEY="k"
    ).provider()
    assert (choice.kind, choice.model, key(choice)) == ("anthropic-messages", "m", "k")
    assert choice.settings.text("base_url") == "https://api.anthropic.com"
    assert choice.why == "chosen by --provider"


def test_a_missing_key_is_an_error_that_names_its_variable(tmp_path):
    choice = configured(tmp_path, "", Flags(provider="groq")).provider()
    with pytest.raises(
        ConfigError, match=r"GROQ_API_KEY is not set; set it, or name another place in config.toml$"
    ):
        key(choice)


def test_a_local_server_needs_no_key(tmp_path):
    choice = configured(tmp_path, "", MINO_PROVIDER="ollama").provider()
    assert (choice.kind, key(choice)) == ("openai-chat", None)
    assert choice.settings.text("base_url") == "http://127.0.0.1:11434/v1"


def test_a_table_of_its_own_is_a_provider(tmp_path):
    toml = '[providers.mine]\nkind = "openai-chat"\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n'
    choice = configured(tmp_path, toml, MINO_PROVIDER="mine").provider(kinds=KINDS)
    assert (choice.name, choice.kind, choice.model) == ("mine", "openai-chat", "m")


def test_a_kind_is_a_provider_without_settings(tmp_path):
    choice = configured(tmp_path, "", MINO_PROVIDER="openai-chat").provider(kinds=KINDS)
    assert (choice.kind, dict(choice.settings)) == ("openai-chat", {})
    local = configured(tmp_path, '[providers.local]\nmodel = "x.gguf"\n').provider(kinds=KINDS)
    assert (local.kind, local.model) == ("local", "x.gguf")


def test_an_unknown_name_says_which_setting_and_what_there_is(tmp_path):
    config = configured(tmp_path, '[session]\nprovider = "depseek"\n')
    with pytest.raises(ConfigError) as caught:
        config.provider(kinds=KINDS)
    said = str(caught.value)
    assert said.startswith("config.toml:2: session.provider: there is no provider 'depseek'; there are: ")
    assert "openai-chat" in said
    assert said.endswith("did you mean deepseek?")
    with pytest.raises(ConfigError, match=r"^--provider: there is no provider 'gone'"):
        configured(tmp_path, "", Flags(provider="gone")).provider(kinds=KINDS)
    with pytest.raises(ConfigError, match=r"^MINO_PROVIDER: there is no provider 'gone'"):
        configured(tmp_path, "", MINO_PROVIDER="gone").provider(kinds=KINDS)


def test_an_unknown_name_that_was_asked_for_is_not_blamed_on_a_setting(tmp_path):
    with pytest.raises(ConfigError, match=r"^there is no provider 'gone'"):
        configured(tmp_path, '[session]\nprovider = "groq"\n').provider("gone", KINDS)


def test_an_unknown_kind_names_the_table_and_what_there_is(tmp_path):
    config = configured(tmp_path, '[providers.a]\nkind = "openai-chta"\n')
    with pytest.raises(ConfigError) as caught:
        config.provider("a", KINDS)
    assert str(caught.value) == (
        "config.toml:2: providers.a.kind: no plugin offers the kind 'openai-chta'; there are: "
        "anthropic-messages, local, openai-chat, openai-responses; did you mean openai-chat?"
    )


def test_names_are_tables_then_presets_then_kinds(tmp_path):
    there_are = names(configured(tmp_path, '[providers.zed]\nkind = "x"\n'), KINDS)
    assert there_are[:2] == ["zed", "openai"]
    assert there_are[-1] == "openai-responses"
    assert len(there_are) == len(set(there_are))


# -- models and options ------------------------------------------------------------------------


def test_the_session_model_is_the_chosen_providers_only(tmp_path):
    toml = '[session]\nprovider = "deepseek"\nmodel = "mine"\n'
    config = configured(tmp_path, toml)
    assert config.provider().model == "mine"
    assert config.provider().settings.text("model") == "mine"
    assert config.provider("deepseek").model == "mine"
    assert config.provider("mistral").model == "mistral-small-latest"
    assert config.provider("groq").model is None


def test_options_of_the_command_line_lie_over_those_of_the_table(tmp_path):
    toml = "[providers.deepseek]\noptions = {temperature = 1, top_p = 0.5}\n"
    config = configured(tmp_path, toml, Flags(provider="deepseek", options={"temperature": 0}))
    assert config.provider().options == {"temperature": 0, "top_p": 0.5}


def test_a_factory_need_not_read_what_mino_has_read(tmp_path):
    toml = '[providers.a]\nkind = "openai-chat"\nmodel = "m"\noptions = {x = 1}\nodd = 1\napi_key = "x"\n'
    assert configured(tmp_path, toml).provider("a").settings.unread() == ["odd", "api_key"]
    bare = configured(tmp_path, "", MINO_PROVIDER="local", MINO_API_KEY="k").provider()
    assert bare.settings.unread() == []


# -- whose key goes where ----------------------------------------------------------------------


def test_the_general_key_belongs_to_the_provider_named_beside_it(tmp_path):
    config = configured(tmp_path, "", MINO_PROVIDER="deepseek", MINO_API_KEY="k", DEEPSEEK_API_KEY="other")
    assert key(config.provider()) == "k"
    assert key(configured(tmp_path, "", Flags(provider="vllm"), MINO_API_KEY="k").provider()) == "k"
    assert key(configured(tmp_path, "", MINO_PROVIDER="openai-chat", MINO_API_KEY="k").provider()) == "k"


def test_the_general_key_goes_nowhere_else(tmp_path):
    config = configured(tmp_path, "", MINO_PROVIDER="deepseek", MINO_API_KEY="k", GROQ_API_KEY="g")
    assert key(config.provider("groq")) == "g"
    named_in_file = configured(tmp_path, '[session]\nprovider = "vllm"\n', MINO_API_KEY="k")
    assert key(named_in_file.provider()) is None
    assert configured(tmp_path, "", MINO_API_KEY="k").provider().name == LOCAL


def test_the_environment_beats_the_key_of_the_file(tmp_path):
    toml = '[providers.deepseek]\napi_key = "from-file"\n'
    assert key(configured(tmp_path, toml, MINO_PROVIDER="deepseek").provider()) == "from-file"
    overridden = configured(tmp_path, toml, MINO_PROVIDER="deepseek", MINO_API_KEY="k")
    assert key(overridden.provider()) == "k"


def test_a_preset_key_is_not_sent_to_another_server(tmp_path):
    toml = '[providers.openai]\nbase_url = "https://proxy.example/v1"\n'
    assert key(configured(tmp_path, toml, OPENAI_API_KEY="k").provider("openai")) is None
    same = '[providers.openai]\nbase_url = "https://api.openai.com/v2"\n'
    assert key(configured(tmp_path, same, OPENAI_API_KEY="k").provider("openai")) == "k"
    told = toml + 'api_key = "env:OPENAI_API_KEY"\n'
    assert key(configured(tmp_path, told, OPENAI_API_KEY="k").provider("openai")) == "k"


def test_a_base_url_of_the_environment_takes_only_the_key_of_the_environment(tmp_path):
    toml = '[providers.mine]\nkind = "openai-chat"\nbase_url = "https://a.example/v1"\napi_key = "k"\n'
    url = "https://b.example/v1"
    choice = configured(tmp_path, toml, MINO_PROVIDER="mine", MINO_BASE_URL=url).provider()
    assert (choice.settings.text("base_url"), key(choice)) == (url, None)
    choice = configured(tmp_path, toml, MINO_PROVIDER="mine", MINO_BASE_URL=url, MINO_API_KEY="e").provider()
    assert key(choice) == "e"
    blank = configured(tmp_path, toml, MINO_PROVIDER="mine", MINO_BASE_URL=" ").provider()
    assert (blank.settings.text("base_url"), key(blank)) == ("https://a.example/v1", "k")
    in_file = configured(tmp_path, '[session]\nprovider = "mine"\n' + toml, MINO_BASE_URL=url).provider()
    assert in_file.settings.text("base_url") == "https://a.example/v1"


# -- the presets themselves --------------------------------------------------------------------


def test_the_well_known_servers_are_there():
    assert list(presets()) == [
        "openai",
        "anthropic",
        "deepseek",
        "openrouter",
        "gemini",
        "groq",
        "mistral",
        "moonshot",
        "dashscope",
        "zhipu",
        "siliconflow",
        "ollama",
        "lmstudio",
        "llamacpp",
        "vllm",
    ]
    assert {preset.kind for preset in presets().values()} <= set(KINDS)
    assert LOCAL not in presets()


@pytest.mark.parametrize("preset", presets().values(), ids=presets())
def test_a_preset_is_private_or_on_this_machine(preset):
    here = preset.base_url.startswith("http://127.0.0.1:")
    assert here != bool(preset.keys)
    assert here or preset.base_url.startswith("https://")
    assert not preset.base_url.endswith("/")
    assert all(name.endswith(KEY_SUFFIX) for name in preset.keys)


def test_no_two_presets_share_a_key():
    variables = [name for preset in presets().values() for name in preset.keys]
    assert len(variables) == len(set(variables))


def test_presets_are_read_once_and_shipped_beside_the_module():
    module = sys.modules["mino_core.config.presets"]  # the package has a function of that name
    assert os.path.exists(os.path.join(os.path.dirname(module.__file__), "presets.toml"))
    assert presets() is presets()
