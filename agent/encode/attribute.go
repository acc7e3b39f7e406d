package encode

import (
	"slices"
	"strings"
	"sync"
)

// attributes maps what people call an attribute to its one name. Only attributes
// that have one value at a time are here: of everything else (what somebody likes,
// friends, skills, allergies) there can be several.
var attributes = sync.OnceValue(func() map[string]string {
	return table(`
		name: name, full_name, nombre, nome, 名字, 名前
		first name: first_name, given_name, vorname, prénom
		last name: last_name, surname, family_name, nachname, nom, apellido, cognome
		nickname: nickname, spitzname, surnom, apodo, soprannome
		e-mail: email, e-mail, mail, email_address, e-mail_address, mail_address, e-mail-adresse, adresse_e-mail, adresse_mail, correo, correo_electrónico, indirizzo_email
		phone: phone, phone_number, telephone, telephone_number, mobile, mobile_number, cell, extension, telefon, telefonnummer, handynummer, numéro_de_téléphone, téléphone, teléfono, número_de_teléfono, telefono, 电话
		time zone: timezone, time_zone, zeitzone, fuseau_horaire, zona_horaria, fuso_orario
		language: language, native_language, mother_tongue, first_language, muttersprache, langue_maternelle, lengua_materna
		city: home_city, hometown, city, wohnort, residence, ville, ciudad, città
		address: address, home_address, postal_address, street_address, adresse, dirección, indirizzo
		employer: employer, arbeitgeber, employeur, empleador, datore_di_lavoro
		job: job_title, job, title, role, profession, occupation, beruf, profession, métier, profesión, professione
		birthday: birthday, birth_date, date_of_birth, birthdate, geburtstag, geburtsdatum, anniversaire, date_de_naissance, cumpleaños, fecha_de_nacimiento, compleanno
		age: age, alter, âge, edad, età
		os: os, operating_system, betriebssystem, système_d'exploitation, sistema_operativo
		shell: shell, login_shell
		editor: editor, text_editor, ide, éditeur
		branch: default_branch, main_branch, trunk
		port: port
		version: version
		deadline: deadline, due_date, release_date, launch_date, go-live, go-live_date, ship_date, abgabetermin, frist, date_limite, fecha_límite, scadenza
		price: price, cost, rent, salary, fee, monthly_rent, preis, miete, gehalt, prix, loyer, precio, alquiler, prezzo, affitto
		budget: budget
		package manager: package_manager, paketmanager, gestionnaire_de_paquets, gestor_de_paquetes
		test runner: test_runner, test_framework, testing_framework
		formatter: formatter, code_formatter
		indent: indentation, indent_style, indent, einrückung
		deploy target: deploy_target, deployment_target, hosting_provider, cloud_provider, hoster, hosting, cloud
		database: database, db, database_engine, datenbank, base_de_données, base_de_datos, 数据库
		ci: ci, ci_system, ci_server, ci_provider
		issue tracker: issue_tracker, bug_tracker, ticket_system
		chat: team_chat, chat_tool
		queue: message_queue, message_broker, queue
		orchestrator: orchestrator
		payments: payment_provider, payment_processor
		browser: default_browser, browser
		theme: theme, colour_scheme, color_scheme
		diet: diet
		phone model: phone_model
		bundler: bundler
		vcs: version_control, vcs
		manager: manager, boss, supervisor, line_manager, team_lead, tech_lead, vorgesetzter
		doctor: doctor, gp, dentist, hausarzt, zahnarzt
		owner: owner, maintainer, product_owner
		leader: ceo, cto, cfo, president, director, head
		insurer: insurer, insurance, health_insurance
		bank: bank
		gym: gym
		school: school, university
		room: room, desk, meeting_room, seat
		status: status, marital_status
		blood type: blood_type, blutgruppe
		license: license, licence, lizenz
		domain: domain, url, website, homepage, base_url, endpoint
		host: host, hostname, ip, ip_address
		timeout: timeout, ttl, retention, retention_period
		start: start_date, start_time
		code: code, gate_code, door_code, pin_code
		password: password, wifi_password, wi-fi_password, passwort, mot_de_passe, contraseña
		favourite colour: favourite_colour, favorite_color, favourite_color, favorite_colour, lieblingsfarbe, couleur_préférée, color_favorito
		weight: weight, gewicht
		height: height, grösse, größe
		frequency: frequency, interval, schedule, cadence`)
})

// products maps the name of a thing that does one job to the attribute whose value
// it can be.
var products = sync.OnceValue(func() map[string]string {
	return table(`
		database: postgresql, postgres, pg, mysql, mariadb, sqlite, mongodb, mongo, cockroachdb, oracle_database, sql_server, mssql, cassandra, dynamodb, firestore, couchdb, tidb, spanner, aurora, neo4j, clickhouse
		package manager: npm, yarn, pnpm, bun, pip, poetry, uv, pipenv, conda, composer, bundler, cocoapods
		test runner: pytest, unittest, nose, jest, vitest, mocha, jasmine, rspec, minitest, junit, testng
		formatter: black, ruff, yapf, prettier, biome, gofmt, gofumpt, rustfmt, clang-format
		editor: vim, neovim, emacs, vs_code, vscode, visual_studio_code, sublime_text, intellij, goland, pycharm, zed, helix, nano, webstorm
		shell: bash, zsh, fish, nushell, powershell
		os: linux, macos, windows, ubuntu, debian, fedora, arch_linux, nixos, freebsd
		ci: github_actions, gitlab_ci, jenkins, circleci, travis_ci, travis, buildkite, drone, teamcity, azure_pipelines
		deploy target: aws, gcp, google_cloud, azure, heroku, fly.io, fly, render, vercel, netlify, hetzner, digitalocean, cloudflare_pages, railway, linode, ovh
		orchestrator: kubernetes, k8s, nomad, docker_swarm, ecs
		queue: kafka, rabbitmq, nats, activemq, pulsar, sqs
		chat: slack, microsoft_teams, ms_teams, discord, mattermost, zulip, rocket.chat
		issue tracker: jira, linear, github_issues, redmine, youtrack, trello, asana, shortcut
		payments: stripe, adyen, paypal, braintree, mollie, square
		bundler: webpack, vite, rollup, parcel, esbuild, turbopack
		vcs: git, mercurial, subversion, svn, perforce, jujutsu
		browser: firefox, chrome, safari, edge, brave, opera, vivaldi
		theme: dark_mode, light_mode, dark_theme, light_theme
		indent: tabs, spaces, two_spaces, four_spaces, 2_spaces, 4_spaces
		diet: vegan, vegetarian, pescatarian, omnivore, carnivore, veganer, vegetarier, végétarien, végane, vegano, vegetariano
		phone model: iphone, pixel, galaxy`)
})

// aliases are other names of the same product.
func alias(name string) string {
	switch name {
	case "postgres", "pg":
		return "postgresql"
	case "mongo":
		return "mongodb"
	case "vscode", "visual studio code":
		return "vs code"
	case "k8s":
		return "kubernetes"
	case "gcp":
		return "google cloud"
	case "svn":
		return "subversion"
	case "ms teams":
		return "microsoft teams"
	case "travis":
		return "travis ci"
	case "mssql":
		return "sql server"
	}
	return name
}

func table(lines string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		name, words, _ := strings.Cut(strings.TrimSpace(line), ":")
		for w := range strings.SplitSeq(words, ",") {
			out[strings.ReplaceAll(strings.TrimSpace(w), "_", " ")] = name
		}
	}
	return out
}

// longest is how many words the longest name of the tables has.
const longest = 4

// find looks for the first, longest name of a table in words, and says where.
func find(names map[string]string, words []word) (attribute, name string, from, to int) {
	for i := range words {
		for n := min(longest, len(words)-i); n > 0; n-- {
			name := folds(words[i : i+n])
			if a, ok := names[name]; ok {
				return a, alias(name), i, i + n
			}
		}
	}
	return "", "", -1, -1
}

// fits reports whether words can be a value of an attribute: a port is a number, a
// manager has a name, and "is leaving" is no value at all.
func fits(attribute string, value []word) bool {
	if len(value) == 0 {
		return false
	}
	has := func(ok func(word) bool) bool { return slices.ContainsFunc(value, ok) }
	switch attribute {
	case "price", "age", "port", "code", "budget", "weight", "height", "timeout", "phone":
		return has(func(w word) bool { return strings.ContainsAny(w.fold, "0123456789") || number(w.fold) != "" })
	case "e-mail":
		return has(func(w word) bool { return strings.Contains(w.fold, "@") })
	case "deadline", "birthday", "start":
		return has(func(w word) bool {
			return number(w.fold) != "" || w.value() || weekdays()[w.fold] || months()[w.fold] > 0
		})
	case "manager", "doctor", "owner", "leader", "employer", "insurer", "bank", "school", "city", "name", "first name", "last name", "nickname", "language", "gym":
		return has(func(w word) bool { return w.value() || strings.ContainsFunc(w.fold, unspaced) })
	}
	first := value[0].fold
	return !(strings.HasSuffix(first, "ing") && len(first) > 4) && !isVerb(value[0])
}

// kin are the people, animals and things of which somebody can have several: the
// name of a son is not the name of the other.
var kin = sync.OnceValue(func() map[string]bool {
	return set(`son daughter child kid brother sister sibling cousin uncle aunt nephew niece friend colleague neighbour neighbor
		cat dog pet horse client customer student teammate grandchild twin sohn tochter kind bruder schwester freund fils fille enfant hijo hija figlio figlia`)
})

// single reports whether "the A of B" can only have one value although A is in no
// table: what it is called says that it is one of a kind.
func plural(words []word) bool {
	for _, w := range words {
		if kin()[w.fold] {
			return true
		}
	}
	return false
}
