//! A lock directory with `owner.json` inside, as the plugin knows it.
//!
//! It is taken over in place, under a number that only one contender gets, and never removed or renamed by anybody
//! but who holds it. So it is always the same one that all look at, and nothing appears beside it.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::claim::{self, OWNER, Sight};
use super::owner::Owner;
use super::verdict::{Signs, stale_after};
use super::who::epoch_ms;
use super::{Holder, KernelLock, LockError, Machine, World, watched};
use crate::disk::{self, Durability, Fault, Folder, Identity, Kind, UNCLAIMED};

/// A lock directory with `owner.json` inside.
#[derive(Debug)]
pub struct DirectoryLock {
    parent: Folder,
    name: &'static str,
    folder: Folder,
    identity: Identity,
    ttl: Duration,
    owner: Owner,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Held,
    Vacated,
    Released,
}

/// What a try gave.
#[allow(
    clippy::large_enum_variant,
    reason = "a lock is moved once, and no try is kept"
)]
#[derive(Debug)]
pub enum Attempt {
    /// It is ours.
    Taken(DirectoryLock),
    /// Try again later.
    Busy(Option<Holder>),
}

/// What may be done about a lock directory that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stale {
    TakeOver,
    Leave,
}

/// So often a release tries to remove a directory into which contenders put their claims meanwhile.
const RELEASES: u32 = 16;

impl DirectoryLock {
    /// One try: takes a free one or a stale one. `kernel` is the kernel lock that goes before it: with it held, a
    /// lock directory that one of our own processes on this machine left is stale at once.
    ///
    /// A dead owner's is stale at once too. Any other is once it is older than `ttl` *and* this process has seen
    /// it unchanged for a second, or for `ttl` where its time lies ahead: so a try may have to be repeated.
    ///
    /// # Errors
    /// [`LockError::Disk`] for a file, a link or an unreadable folder in its place, a parent that is gone, a full
    /// disk; nothing is left behind then.
    pub fn attempt(
        parent: &Folder,
        name: &'static str,
        ttl: Duration,
        kernel: &KernelLock,
        world: &dyn World,
    ) -> Result<Attempt, LockError> {
        Self::try_once(parent, name, ttl, kernel.held, world, Stale::TakeOver)
    }

    /// One try at a free one: whatever is there is left alone.
    ///
    /// # Errors
    /// As [`Self::attempt`].
    pub fn attempt_free(
        parent: &Folder,
        name: &'static str,
        ttl: Duration,
        kernel: &KernelLock,
        world: &dyn World,
    ) -> Result<Attempt, LockError> {
        Self::try_once(parent, name, ttl, kernel.held, world, Stale::Leave)
    }

    /// Who holds it, as far as it says; `None` where nobody does, or it cannot be read.
    #[must_use]
    pub fn holder(parent: &Folder, name: &str) -> Option<Holder> {
        let folder = parent.child(name).ok()??;
        Some(Sight::of(&folder).ok()?.who()?.holder())
    }

    fn try_once(
        parent: &Folder,
        name: &'static str,
        ttl: Duration,
        kernel_held: bool,
        world: &dyn World,
        stale: Stale,
    ) -> Result<Attempt, LockError> {
        let free = parent.try_make(name, UNCLAIMED)?;
        let Some(folder) = parent.child(name)? else {
            // Removed in between.
            return Ok(Attempt::Busy(None));
        };
        let take = |claim| {
            let token = format!("{:016x}", RandomState::new().hash_one(name));
            Ok::<_, LockError>(Self {
                identity: folder.identity()?,
                parent: parent.share()?,
                name,
                folder: folder.share()?,
                ttl,
                owner: Owner::own(world, kernel_held, token, claim),
                state: State::Held,
            })
        };
        if free {
            return Self::enter(take(0)?);
        }
        let sight = match Sight::of(&folder) {
            Err(error) if matches!(error.what, Fault::Gone) => return Ok(Attempt::Busy(None)),
            sight => sight?,
        };
        let who = sight.who();
        let busy = Ok(Attempt::Busy(who.as_ref().map(Owner::holder)));
        let signs = Signs {
            owner: who.as_ref(),
            modified_ms: sight.modified_ms,
            marked: sight.marked,
            writers: &sight.writers,
        };
        let unchanged = watched::unchanged(sight.identity, sight.looks());
        let needed = stale_after(&signs, ttl, kernel_held, world);
        if stale == Stale::Leave || needed.is_none_or(|needed| unchanged < needed) {
            return busy;
        }
        let lock = take(sight.claims + 1)?;
        if !lock.claim(&sight)? {
            return busy;
        }
        tracing::warn!(
            lock = %lock.folder.path().display(),
            holder = %who.as_ref().map(Owner::holder).unwrap_or_default(),
            "took over a lock that was left behind"
        );
        Self::enter(lock)
    }

    /// Get the number that makes it ours, and see that nothing has changed since it was found stale.
    fn claim(&self, sight: &Sight) -> Result<bool, LockError> {
        let name = claim::name(self.owner.claim);
        let made = self.folder.create(&name, self.owner.to_json().as_bytes(), 0o600);
        match made {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            // The directory was removed: its holder was not dead.
            Err(error) if matches!(error.what, Fault::Gone) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let same = self.is_in_place()? && claim::text(&self.folder, OWNER)? == sight.owner;
        if !same {
            self.folder.remove(&name, Durability::Fleeting)?;
        }
        Ok(same)
    }

    /// Say that it is ours, and take away what others left in it.
    fn enter(lock: Self) -> Result<Attempt, LockError> {
        let entered = lock.make_way().and_then(|()| lock.write_owner()).and_then(|()| {
            if lock.owner.claim > 0 {
                lock.verify()?;
                // A higher number is of somebody who took it over from us just now.
                let own = lock.owner.claim;
                let stays = |name: &OsStr| claim::number(name).is_some_and(|number| number >= own);
                claim::clear(&lock.folder, |name| name == OWNER || stays(name))?;
                lock.mark();
            }
            lock.verify()
        });
        match entered {
            Ok(()) => {
                watched::forget(lock.identity);
                Ok(Attempt::Taken(lock))
            }
            // Whoever took it over meanwhile has it, and nothing of ours is in it.
            Err(LockError::Lost { .. }) => {
                let mut lock = lock;
                lock.state = State::Released;
                Ok(Attempt::Busy(Self::holder(&lock.parent, lock.name)))
            }
            Err(error) => {
                lock.back_out();
                match error {
                    LockError::Disk(gone) if matches!(gone.what, Fault::Gone) => Ok(Attempt::Busy(None)),
                    error => Err(error),
                }
            }
        }
    }

    /// Undo a taking that failed half-way.
    fn back_out(mut self) {
        if self.verify().is_ok() {
            // It is said to be ours already, so it is given up as one that is held.
            return;
        }
        if self.owner.claim == 0 && self.is_highest().unwrap_or(false) {
            // Made just now, so it is nobody else's.
            self.state = State::Vacated;
            return;
        }
        self.state = State::Released;
        let name = claim::name(self.owner.claim);
        if self.owner.claim > 0
            && let Err(error) = self.folder.remove(&name, Durability::Fleeting)
        {
            tracing::debug!(%error, "the claim on a lock stays");
        }
    }

    /// What is no file in the place of `owner.json` says of nobody that the lock is his, and no file replaces it.
    fn make_way(&self) -> Result<(), LockError> {
        let there = self.folder.entry(OWNER)?;
        if self.owner.claim > 0 && there.is_some_and(|there| there.kind != Kind::File) {
            self.folder.remove_any(OWNER.as_ref())?;
        }
        Ok(())
    }

    fn write_owner(&self) -> Result<(), LockError> {
        let text = self.owner.to_json();
        let folder = &self.folder;
        Ok(folder.replace(OWNER, text.as_bytes(), 0o600, folder, Durability::Fleeting)?)
    }

    /// A directory that the plugin made, from now on as ours. Another user's stays as it is, and is only waited for
    /// longer if we die.
    fn mark(&self) {
        let marked = self.folder.itself().is_ok_and(|itself| itself.is_unclaimed());
        if !marked && let Err(error) = self.folder.set_mode(UNCLAIMED) {
            tracing::debug!(%error, "a lock directory keeps its mode");
        }
    }

    /// Before each write: it is still ours, and its age is set back. Else `Lost`.
    ///
    /// # Errors
    /// [`LockError::Lost`] where somebody took it over or removed it, as after a stop of this process for longer
    /// than the TTL; [`LockError::Disk`].
    pub fn check(&self) -> Result<(), LockError> {
        self.verify()?;
        let age = Machine::get()
            .now_ms()
            .saturating_sub(epoch_ms(self.folder.itself()?.modified));
        let third = i64::try_from(self.ttl.as_millis() / 3).unwrap_or(i64::MAX);
        if self.state == State::Held && !(0..=third).contains(&age.saturating_add(1)) {
            self.refresh()?;
        }
        Ok(())
    }

    /// Peers go by the time in `owner.json` as well as by the directory's.
    fn refresh(&self) -> Result<(), LockError> {
        let owner = Owner {
            acquired_at: Some(Machine::get().now_ms()),
            ..self.owner.clone()
        };
        let text = owner.to_json();
        let folder = &self.folder;
        folder.replace(OWNER, text.as_bytes(), 0o600, folder, Durability::Fleeting)?;
        // Whoever took it over before this write finds that its number is the higher one.
        self.verify()
    }

    /// It is the directory of that name, and nobody has a higher claim on it.
    fn verify(&self) -> Result<(), LockError> {
        if self.state == State::Vacated && self.is_in_place()? {
            return Ok(());
        }
        if !self.is_highest()? {
            return Err(self.lost());
        }
        let said = claim::text(&self.folder, OWNER)?
            .as_deref()
            .and_then(Owner::parse);
        match said {
            Some(said) if said.token == self.owner.token => Ok(()),
            // One that was stopped between its claim and this file, and does not know yet that it has lost it.
            Some(said) if said.token.is_some() && said.claim < self.owner.claim => self.write_owner(),
            _ => Err(self.lost()),
        }
    }

    fn is_highest(&self) -> disk::Result<bool> {
        // Not only the next one: whoever takes it over removes the claims before its own.
        let names = self.folder.names(claim::NAMES)?;
        let higher = |name: &OsString| claim::number(name).is_some_and(|number| number > self.owner.claim);
        Ok(self.is_in_place()? && !names.iter().any(higher))
    }

    fn is_in_place(&self) -> disk::Result<bool> {
        let entry = self.parent.entry(self.name)?;
        Ok(entry.is_some_and(|entry| entry.identity == self.identity))
    }

    fn lost(&self) -> LockError {
        LockError::Lost {
            path: self.folder.path().to_owned(),
        }
    }

    /// Whether it was left behind by somebody, and taken over.
    #[must_use]
    pub fn took_over(&self) -> bool {
        self.owner.claim > 0
    }

    /// The directory itself, in which temporary files lie.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Empty it, and keep it: what is not there any more, git cannot see.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn vacate(&mut self) -> Result<(), LockError> {
        if self.state == State::Held {
            self.verify()?;
            claim::clear(&self.folder, |_| false)?;
            self.state = State::Vacated;
        }
        Ok(())
    }

    /// Give it up. Drop does so too, as far as it goes without an error.
    ///
    /// # Errors
    /// As [`Self::check`]. One that is lost is left to whoever has it.
    pub fn release(mut self) -> Result<(), LockError> {
        self.give_up()
    }

    fn give_up(&mut self) -> Result<(), LockError> {
        if self.state == State::Released {
            return Ok(());
        }
        if let Err(error) = self.verify() {
            if matches!(error, LockError::Lost { .. }) {
                self.state = State::Released;
            }
            return Err(error);
        }
        for _ in 0..RELEASES {
            claim::clear(&self.folder, |_| false)?;
            // From here on it says of nobody that it is his.
            self.state = State::Vacated;
            if self.parent.remove_child(self.name)? || !self.is_in_place()? {
                self.state = State::Released;
                return Ok(());
            }
        }
        self.state = State::Released;
        tracing::warn!(lock = %self.folder.path().display(), "a lock directory stays: it does not get empty");
        Ok(())
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        if let Err(error) = self.give_up() {
            tracing::warn!(%error, lock = %self.folder.path().display(), "a lock was not given up in order");
        }
    }
}
